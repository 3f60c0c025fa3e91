package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/nearest"
	"github.com/cqld/cqld/store/rows"
)

// graphBuilder keeps the graphs of indexes of vectors in memory, and adds rows to them.
type graphBuilder struct {
	*core
	definer *definer

	minGraphed atomic.Int64 // the constants, but in tests
	minAdded   atomic.Int64
}

// Rows are added by making another graph, of the rows that no graph has and of all graphs up to mergeFactor times as
// large. So there are few graphs, and each row is added again few times.
const (
	graphPart   = 256 << 10
	mergeFactor = 4

	minGraphed    = 4096   // fewer rows are compared one by one
	minAdded      = 256    // fewer rows are not added
	maxAdded      = 20_000 // at a time
	graphsEvery   = 250 * time.Millisecond
	removedAtOnce = 64 // entries
)

// GraphMetrics returns the number and the size of the graphs of vectors.
func (s *core) GraphMetrics() index.GraphMetrics { return s.graphs.Metrics() }

// keepGraphs loads the graphs of vectors and adds rows to them, until the store is closed.
func (s *graphBuilder) keepGraphs() {
	defer s.running.Done()
	ticker := time.NewTicker(graphsEvery)
	defer ticker.Stop()
	done := map[uint32]grown{}
	for {
		select {
		case <-s.closing.Done():
			return
		case <-ticker.C:
		}
		err := panics.Call(func() error { return s.growGraphs(done) })
		if err != nil && s.closing.Err() == nil && !errors.Is(err, engine.ErrClosed) && !errors.Is(err, errRestored) {
			panics.Log(&s.log, err).Msg("cannot work on an index of vectors yet")
		}
	}
}

// grown says when all rows of an index were added to its graphs: after so many were written to the table, with such a
// least number of rows for a graph. Until one of them is another, there is nothing to add.
type grown struct {
	written, least int64
	givenUp        bool // adding rows panicked: there are no more graphs until the next start
}

// growGraphs loads graphs that are not in memory, and adds rows to all graphs. done is by the numbers of the indexes.
func (s *graphBuilder) growGraphs(done map[uint32]grown) error {
	era := s.restores.Load()
	for _, all := range s.state.Load().indexes {
		for _, x := range all {
			if !x.IsVector() || !x.Built || done[x.ID].givenUp {
				continue
			}
			err := panics.Call(func() error { return s.growGraphsOf(x, era, done) })
			if panics.Is(err) {
				done[x.ID] = grown{givenUp: true}
				panics.Log(&s.log, err).Str("table", x.TableName()).Str("index", x.IndexName()).
					Msg("no more rows are added to the graphs of an index until the next start: reads compare them one by one")
				continue
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// growGraphsOf is growGraphs of one index.
func (s *graphBuilder) growGraphsOf(x *index.Index, era uint64, done map[uint32]grown) error {
	if !s.graphs.Has(x.ID, era) {
		delete(done, x.ID)
		damaged := false
		if err := s.step(era, func() (err error) {
			damaged, err = s.loadGraphs(x, era)
			return err
		}); err != nil || damaged {
			return err
		}
	}
	written, idle := s.usages.Of(x.TableID).RowsWritten()
	now := grown{written: written, least: s.minGraphed.Load()}
	if before, known := done[x.ID]; known && before == now {
		return nil
	}
	for more := true; more; {
		var err error
		if more, err = s.growGraph(x, era); err != nil {
			return err
		}
	}
	if idle {
		done[x.ID] = now
	}
	return nil
}

// loadGraphs reads the graphs of an index into memory. If they are damaged the index is built anew.
func (s *graphBuilder) loadGraphs(x *index.Index, era uint64) (damaged bool, err error) {
	segments, incomplete, err := x.ReadGraphs(s.engine)
	if damaged = errors.Is(err, nearest.ErrGraph); damaged {
		s.log.Error().Err(err).Str("table", x.TableName()).Msg("an index of vectors is built anew")
		anew := *x
		anew.Built = false
		if _, err := s.definer.replaceIndex(&anew, era); err != nil {
			return damaged, err
		}
		s.wakeIndexing()
		start := rows.AppendArea(nil, x.ID, rows.AreaTombstones)
		err = s.engine.Scan(start, rows.Successor(bytes.Clone(start)), engine.ScanOptions{KeysOnly: true},
			func(key, _ []byte) (bool, error) {
				incomplete = append(incomplete, bytes.Clone(key))
				return true, nil
			})
		segments = nil
	}
	if err != nil {
		return damaged, err
	}
	kept := index.GraphSet{Segments: segments}
	if !damaged {
		if kept.Since, err = s.firstRound(x); err != nil {
			return damaged, err
		}
	}
	s.graphs.Set(x.ID, era, s.state.Load().live, kept)
	return damaged, s.removeParts(x, incomplete)
}

func (s *graphBuilder) removeParts(x *index.Index, keys [][]byte) error {
	var ops []engine.Op
	for _, key := range keys {
		ops = append(ops, engine.Op{Kind: engine.Delete, Key: key})
	}
	_, err := s.commitGraph(x, ops)
	return err
}

// commitGraph commits parts of graphs one after the other, unless the index is gone. A purge of the index waits for
// it.
func (s *graphBuilder) commitGraph(x *index.Index, ops []engine.Op) (gone bool, err error) {
	u := s.usages.Of(x.ID)
	defer u.EndWrite(u.BeginWrite(0, 0, math.MaxInt64))
	for part := range slices.Chunk(ops, 4) {
		if gone, err = s.commitEntries(x, part); gone || err != nil {
			return gone, err
		}
	}
	return false, nil
}

// growGraph adds rows that no graph has, if there are enough. It reports whether there may be more.
func (s *graphBuilder) growGraph(x *index.Index, era uint64) (more bool, err error) {
	kept := s.graphs.Of(x.ID, era)
	segments := kept.Segments
	least := int(s.minAdded.Load())
	if len(segments) == 0 {
		least = int(s.minGraphed.Load())
	}
	n, err := x.CountUngraphed(s.engine, kept.Since, least)
	if err != nil || n < least {
		return false, err
	}
	before := uint64(math.MaxUint64)
	if s.cluster == nil {
		before = s.beginRound(x)
	}
	added, err := x.TakeUngraphed(s.engine, kept.Since, before, maxAdded)
	if err != nil || len(added) == 0 {
		return false, err
	}
	first, size := len(segments), len(added)
	for first > 0 && segments[first-1].Graph.Len() <= mergeFactor*size {
		first--
		size += segments[first].Graph.Len()
	}
	graph, err := x.MergeGraphs(s.engine, segments[first:], added, func() error {
		runtime.Gosched()
		if s.restores.Load() != era {
			return errRestored
		}
		return s.closing.Err()
	})
	if err != nil {
		return false, err
	}
	number := uint32(1)
	if len(segments) > 0 {
		number = segments[len(segments)-1].Number + 1
	}
	segment := &index.Segment{Number: number, Graph: graph}
	next := index.GraphSet{Segments: append(slices.Clone(segments[:first]), segment), Since: kept.Since}
	if graph.Len() == 0 {
		next.Segments = segments[:first:first]
	}
	gone, err := s.storeGraph(x, era, graph, number, next, segments[first:])
	if err != nil || gone {
		return false, err
	}
	for part := range slices.Chunk(added, removedAtOnce) {
		if err := s.step(era, func() error { return s.removeGraphed(x, part) }); err != nil {
			return false, err
		}
	}
	if len(added) == maxAdded {
		return true, nil
	}
	if s.cluster == nil {
		next.Since = before
		s.graphs.Set(x.ID, era, s.state.Load().live, next)
	}
	return false, nil
}

// storeGraph writes a graph with its number, if it has rows, in place of others. Then it shows all that there are to
// reads.
func (s *graphBuilder) storeGraph(
	x *index.Index, era uint64, g *nearest.Graph, number uint32, next index.GraphSet, replaced []*index.Segment,
) (gone bool, err error) {
	var ops []engine.Op
	size := max(1, min(graphPart, s.limits.Value/2, s.limits.CommitBytes/16))
	if g.Len() > 0 {
		for part := range slices.Chunk(g.Append(nil), size) {
			op := engine.Op{Kind: engine.Put, Key: x.GraphKey(number, uint32(len(ops))), Value: part}
			ops = append(ops, op)
		}
	}
	err = s.step(era, func() (err error) {
		if gone, err = s.commitGraph(x, ops); gone || err != nil {
			return err
		}
		last := []engine.Op{}
		if len(ops) > 0 {
			last = append(last, engine.Op{
				Kind: engine.Put, Key: x.GraphKey(number, index.LastPart), Value: binary.AppendUvarint(nil, uint64(len(ops))),
			})
		}
		for _, old := range replaced {
			last = append(last, engine.Op{Kind: engine.Delete, Key: x.GraphKey(old.Number, index.LastPart)})
		}
		u := s.usages.Of(x.ID)
		defer u.EndWrite(u.BeginWrite(0, 0, math.MaxInt64))
		if !s.state.Load().live[x.ID] {
			gone = true
			return nil
		}
		return s.commit(last)
	})
	if err != nil || gone {
		return gone, err
	}
	s.graphs.Set(x.ID, era, s.state.Load().live, next)
	var keys [][]byte
	for _, old := range replaced {
		start, end := x.GraphKey(old.Number, 0), x.GraphKey(old.Number, index.LastPart)
		err := s.engine.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
			keys = append(keys, bytes.Clone(key))
			return true, nil
		})
		if err != nil {
			return false, err
		}
	}
	return false, s.step(era, func() error { return s.removeParts(x, keys) })
}

// beginRound begins a round, and waits until no entries of earlier ones are written to an index.
func (s *graphBuilder) beginRound(x *index.Index) uint64 {
	round := s.graphs.Round.Add(1)
	s.usages.Of(x.TableID).AwaitWrites()
	return round
}

// firstRound is the first round with entries of an index whose graphs were just loaded. Later rounds come after those
// of all entries.
func (s *graphBuilder) firstRound(x *index.Index) (uint64, error) {
	if s.cluster != nil {
		return 0, nil
	}
	span := x.UngraphedSpan(0)
	err := s.engine.Scan(span.Start, span.End, engine.ScanOptions{KeysOnly: true, Reverse: true},
		func(key, _ []byte) (bool, error) {
			last, _, err := index.SplitRound(key)
			for now := s.graphs.Round.Load(); now < last && !s.graphs.Round.CompareAndSwap(now, last); {
				now = s.graphs.Round.Load()
			}
			return false, err
		})
	first := s.beginRound(x)
	return first, errors.Join(err, x.ScanUngraphed(s.engine, 0, func(key []byte) (more bool, err error) {
		first, _, err = index.SplitRound(key)
		return false, err
	}))
}

// removeGraphed removes the entries of rows that a graph has, unless a row has another vector since. In a round that
// has begun before the vectors were read it has another entry then.
func (s *graphBuilder) removeGraphed(x *index.Index, all []index.Ungraphed) error {
	if s.cluster == nil {
		var ops []engine.Op
		for i := range all {
			for _, key := range all[i].Entries {
				ops = append(ops, engine.Op{Kind: engine.Delete, Key: key})
			}
		}
		_, err := s.commitEntries(x, ops)
		return err
	}
	return s.update(s.closing, all[0].Entries[0], func(txn engine.Txn) error {
		for i := range all {
			vector, err := x.StoredVector(txn, all[i].Row)
			if err != nil {
				return err
			}
			if bytes.Equal(vector, all[i].Vector) {
				for _, key := range all[i].Entries {
					txn.Delete(key)
				}
			}
		}
		return nil
	})
}

// Bounds beyond which graphs cost more than comparing all rows.
const (
	maxUngraphed = 4096 // entries of rows that no graph has yet
	fewFiltered  = 2000 // entries of another index: rows with these are compared one by one
)

// chooseGraphs gathers the rows near to a vector. It reports false if all rows are to be compared.
func (r *reader) chooseGraphs() (bool, error) {
	read, n := r.read, r.read.Nearest
	n.Approximate = false
	if read.Keys != nil || !read.allRows() || read.Reverse || read.After != nil || read.Tokens != (TokenRange{}) {
		return false, nil
	}
	x := r.builtIndex(n.Index)
	if x == nil || !x.IsVector() {
		return false, nil
	}
	if r.era != r.store.restores.Load() {
		return false, errTruncated
	}
	kept := r.store.graphs.Of(x.ID, r.era)
	nodes := 0
	for _, s := range kept.Segments {
		nodes += s.Graph.Len()
	}
	if nodes == 0 || n.Wide > nodes/4 {
		return false, nil
	}
	if few, err := r.fewFiltered(); err != nil || few {
		return false, err
	}
	keys, err := r.ungraphedRows(x, kept.Since)
	if err != nil || len(keys) == maxUngraphed {
		return false, err
	}
	l := &r.lookup
	l.index, l.entry, l.others = x, nil, l.others[:0]
	l.gather = gathering{rows: append(keys, index.Search(kept.Segments, n.Vector, n.Wide, n.Take)...)}
	l.gather.sort()
	n.Approximate = true
	read.Indexed.use(n.Index.Name)
	return true, nil
}

// fewFiltered reports whether other indexes leave so few rows that these are compared one by one.
func (r *reader) fewFiltered() (bool, error) {
	for i := range r.read.Lookups {
		x := r.builtIndex(r.read.Lookups[i].Index)
		if x == nil {
			continue
		}
		for _, span := range x.EntriesOf(&r.read.Lookups[i]) {
			n, err := countEntries(r.src, span, fewFiltered)
			if err != nil || n < fewFiltered {
				return true, err
			}
		}
	}
	return false, nil
}

// ungraphedRows are the keys of rows that have entries since a round: maxUngraphed of them, or all.
func (r *reader) ungraphedRows(x *index.Index, since uint64) (keys [][]byte, err error) {
	err = x.ScanUngraphed(r.src, since, func(key []byte) (bool, error) {
		_, row, err := index.SplitRound(key)
		keys = append(keys, bytes.Clone(row))
		return len(keys) < maxUngraphed, err
	})
	return keys, err
}
