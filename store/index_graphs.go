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

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/nearest"
	"github.com/cqld/cqld/store/rows"
)

// The graphs of an index of vectors are stored under the number of the index:
//
//	| 2 × index : 4 | graph : 4 | part : 4 |
//
// The last part, whose number is lastPart, has how many others there are. A graph without it does not count: it is
// being written or removed. It replaces others in the commit that writes its last part.
//
// Rows are added by making another graph: of those that no graph has, and of all graphs that are not more than
// mergeFactor times as large. So there are few graphs, and each row is added again few times.
const (
	lastPart    = math.MaxUint32
	graphPart   = 256 << 10
	mergeFactor = 4

	leastGraphed  = 4096   // fewer rows are compared one by one
	leastAdded    = 256    // fewer rows are not added
	mostAdded     = 20_000 // at a time
	graphsEvery   = 250 * time.Millisecond
	graphStep     = 64 // nodes
	removedAtOnce = 64 // entries
)

// segment is one graph of an index.
type segment struct {
	number uint32
	graph  *nearest.Graph
}

// graphs has the graphs of all indexes in memory. One goroutine replaces them.
type graphs struct {
	all   atomic.Pointer[graphSets]
	round atomic.Uint64 // in which entries are written
}

// graphSets are graphs by the numbers of their indexes, the oldest first. They hold while the store has been restored
// as often as era says.
type graphSets struct {
	era uint64
	of  map[uint32]graphSet
}

// graphSet are the graphs of an index. They have all rows but those with entries that were written since a round.
type graphSet struct {
	segments []*segment
	since    uint64
}

// of returns the graphs of an index; none: they are not loaded, or there are none.
func (g *graphs) of(id uint32, era uint64) graphSet {
	all := g.all.Load()
	if all == nil || all.era != era {
		return graphSet{}
	}
	return all.of[id]
}

// has reports whether the graphs of an index are loaded.
func (g *graphs) has(id uint32, era uint64) bool {
	all := g.all.Load()
	if all == nil || all.era != era {
		return false
	}
	_, has := all.of[id]
	return has
}

// set replaces the graphs of an index, and drops those of indexes that are gone.
func (g *graphs) set(id uint32, era uint64, live map[uint32]bool, kept graphSet) {
	next := &graphSets{era: era, of: map[uint32]graphSet{id: kept}}
	if all := g.all.Load(); all != nil && all.era == era {
		for other, kept := range all.of {
			if other != id && live[other] {
				next.of[other] = kept
			}
		}
	}
	g.all.Store(next)
}

// GraphMetrics is what the graphs of vectors have and take in memory.
type GraphMetrics struct {
	Graphs, Nodes int // dead nodes too
	Bytes         int64
}

// GraphMetrics returns what the graphs of vectors have.
func (s *Store) GraphMetrics() (m GraphMetrics) {
	all := s.graphs.all.Load()
	if all == nil {
		return m
	}
	for _, kept := range all.of {
		for _, g := range kept.segments {
			m.Graphs++
			m.Nodes += g.graph.Len()
			m.Bytes += g.graph.Bytes()
		}
	}
	return m
}

// keepGraphs loads the graphs of vectors and adds rows to them, until the store is closed.
func (s *Store) keepGraphs() {
	defer s.purging.Done()
	ticker := time.NewTicker(graphsEvery)
	defer ticker.Stop()
	done := map[uint32]grown{}
	for {
		select {
		case <-s.closing.Done():
			return
		case <-ticker.C:
		}
		err := s.growGraphs(done)
		if err != nil && s.closing.Err() == nil && !errors.Is(err, engine.ErrClosed) && !errors.Is(err, errRestored) {
			s.log.Error().Err(err).Msg("cannot work on an index of vectors yet")
		}
	}
}

// grown says when all rows of an index were added to its graphs: after so many were written to the table, with such a
// least number of rows for a graph. Until one of them is another, there is nothing to add.
type grown struct{ written, least int64 }

// growGraphs loads graphs that are not in memory, and adds rows to all graphs. done is by the numbers of the indexes.
func (s *Store) growGraphs(done map[uint32]grown) error {
	era := s.restores.Load()
	for _, all := range s.state.Load().indexes {
		for _, x := range all {
			if !x.isVector() || !x.built {
				continue
			}
			if !s.graphs.has(x.id, era) {
				delete(done, x.id)
				damaged := false
				if err := s.step(era, func() (err error) {
					damaged, err = s.loadGraphs(x, era)
					return err
				}); err != nil {
					return err
				}
				if damaged {
					continue
				}
			}
			written, idle := s.usages.Of(x.tableID).RowsWritten()
			now := grown{written, s.leastGraphed.Load()}
			if before, known := done[x.id]; known && before == now {
				continue
			}
			for more := true; more; {
				var err error
				if more, err = s.growGraph(x, era); err != nil {
					return err
				}
			}
			if idle {
				done[x.id] = now
			}
		}
	}
	return nil
}

// graphKey is the key of a part of a graph.
func (x *keptIndex) graphKey(number, part uint32) []byte {
	key := binary.BigEndian.AppendUint32(rows.AppendArea(nil, x.id, rows.AreaTombstones), number)
	return binary.BigEndian.AppendUint32(key, part)
}

// readGraphs reads the graphs of an index. incomplete are the keys of parts that belong to none.
func (x *keptIndex) readGraphs(src engine.Reader) (segments []*segment, incomplete [][]byte, err error) {
	start := rows.AppendArea(nil, x.id, rows.AreaTombstones)
	var keys, parts [][]byte
	err = src.Scan(start, rows.Successor(bytes.Clone(start)), engine.ScanOptions{}, func(key, value []byte) (bool, error) {
		if len(key) != rows.AreaSize+8 {
			return false, nearest.ErrGraph
		}
		number, part := binary.BigEndian.Uint32(key[rows.AreaSize:]), binary.BigEndian.Uint32(key[rows.AreaSize+4:])
		if part == 0 {
			incomplete, keys, parts = append(incomplete, keys...), nil, nil
		}
		if part != lastPart {
			keys, parts = append(keys, bytes.Clone(key)), append(parts, bytes.Clone(value))
			return true, nil
		}
		count, _ := binary.Uvarint(value)
		if count > uint64(len(parts)) {
			return false, nearest.ErrGraph
		}
		graph, err := nearest.Decode(bytes.Join(parts[:count], nil))
		if err != nil {
			return false, err
		}
		incomplete, keys, parts = append(incomplete, keys[count:]...), nil, nil
		segments = append(segments, &segment{number, graph})
		return true, nil
	})
	return segments, append(incomplete, keys...), err
}

// loadGraphs reads the graphs of an index into memory. If they are damaged the index is built anew.
func (s *Store) loadGraphs(x *keptIndex, era uint64) (damaged bool, err error) {
	segments, incomplete, err := x.readGraphs(s.engine)
	if damaged = errors.Is(err, nearest.ErrGraph); damaged {
		s.log.Error().Err(err).Str("table", x.tableName()).Msg("an index of vectors is built anew")
		anew := *x
		anew.built = false
		if _, err := s.replaceIndex(&anew, era); err != nil {
			return damaged, err
		}
		s.wakeIndexing()
		start := rows.AppendArea(nil, x.id, rows.AreaTombstones)
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
	kept := graphSet{segments: segments}
	if !damaged {
		if kept.since, err = s.firstRound(x); err != nil {
			return damaged, err
		}
	}
	s.graphs.set(x.id, era, s.state.Load().live, kept)
	return damaged, s.removeParts(x, incomplete)
}

// removeParts removes parts of graphs that do not count.
func (s *Store) removeParts(x *keptIndex, keys [][]byte) error {
	var ops []engine.Op
	for _, key := range keys {
		ops = append(ops, engine.Op{Kind: engine.Delete, Key: key})
	}
	_, err := s.commitGraph(x, ops)
	return err
}

// commitGraph commits parts of graphs one after the other, unless the index is gone. A purge of the index waits for it.
func (s *Store) commitGraph(x *keptIndex, ops []engine.Op) (gone bool, err error) {
	u := s.usages.Of(x.id)
	defer u.EndWrite(u.BeginWrite(0, 0, math.MaxInt64))
	for part := range slices.Chunk(ops, 4) {
		if gone, err = s.commitEntries(x, part); gone || err != nil {
			return gone, err
		}
	}
	return false, nil
}

// growGraph adds rows that no graph has, if there are enough. It reports whether there may be more.
func (s *Store) growGraph(x *keptIndex, era uint64) (more bool, err error) {
	kept := s.graphs.of(x.id, era)
	segments := kept.segments
	least := int(s.leastAdded.Load())
	if len(segments) == 0 {
		least = int(s.leastGraphed.Load())
	}
	n, err := s.countUngraphed(x, kept.since, least)
	if err != nil || n < least {
		return false, err
	}
	before := uint64(math.MaxUint64)
	if s.cluster == nil {
		before = s.beginRound(x)
	}
	added, err := s.takeUngraphed(x, kept.since, before, mostAdded)
	if err != nil || len(added) == 0 {
		return false, err
	}
	first, size := len(segments), len(added)
	for first > 0 && segments[first-1].graph.Len() <= mergeFactor*size {
		first--
		size += segments[first].graph.Len()
	}
	graph, err := s.mergeGraphs(x, era, segments[first:], added)
	if err != nil {
		return false, err
	}
	number := uint32(1)
	if len(segments) > 0 {
		number = segments[len(segments)-1].number + 1
	}
	next := graphSet{append(slices.Clone(segments[:first]), &segment{number, graph}), kept.since}
	if graph.Len() == 0 {
		next.segments = segments[:first:first]
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
	if len(added) == mostAdded {
		return true, nil
	}
	if s.cluster == nil {
		next.since = before
		s.graphs.set(x.id, era, s.state.Load().live, next)
	}
	return false, nil
}

// countUngraphed counts entries that were written since a round, up to most.
func (s *Store) countUngraphed(x *keptIndex, since uint64, most int) (n int, err error) {
	err = x.scanUngraphed(s.engine, since, func([]byte) (bool, error) {
		n++
		return n < most, nil
	})
	return n, err
}

// mergeGraphs makes a graph of the rows of others and of those that are added, each with the vector that it has now.
func (s *Store) mergeGraphs(x *keptIndex, era uint64, from []*segment, added []graphed) (*nearest.Graph, error) {
	known := map[string]bool{}
	for i := range added {
		known[string(added[i].row)] = true
	}
	steps := 0
	step := func() error {
		if steps++; steps%graphStep != 0 {
			return nil
		}
		runtime.Gosched()
		if s.restores.Load() != era {
			return errRestored
		}
		return s.closing.Err()
	}
	var floats []float32
	// lives reports whether the row of a node has still its vector, which no other node has that was looked at.
	lives := func(g *nearest.Graph, node int, last bool) (bool, error) {
		key := g.Key(node)
		if err := step(); err != nil || g.IsDead(node) || known[string(key)] {
			return false, err
		}
		vector, err := s.storedVector(s.engine, x, key)
		if err != nil || vector == nil {
			return false, err
		}
		floats = appendFloats(floats[:0], vector)
		if !last {
			known[string(key)] = true
		}
		return g.Holds(node, floats), nil
	}
	type source struct {
		graph *nearest.Graph
		nodes []int
	}
	var others []source
	base := nearest.New(x.measure, x.dim)
	for i := len(from) - 1; i >= 0; i-- {
		g := from[i].graph
		o := source{graph: g}
		for node := range g.Len() {
			alive, err := lives(g, node, i == 0)
			if err != nil {
				return nil, err
			}
			if alive {
				o.nodes = append(o.nodes, node)
			}
		}
		if i == 0 && len(o.nodes) >= g.Len()/4*3 {
			base = g
		}
		others = append(others, o)
	}
	b := nearest.NewBuilder(base)
	for _, o := range slices.Backward(others) {
		if o.graph == base {
			next := 0
			for node := range base.Len() {
				if next < len(o.nodes) && o.nodes[next] == node {
					next++
					continue
				}
				b.Kill(node)
			}
			continue
		}
		for _, node := range o.nodes {
			if err := step(); err != nil {
				return nil, err
			}
			b.AddFrom(o.graph, node)
		}
	}
	for i := range added {
		if err := step(); err != nil {
			return nil, err
		}
		floats = appendFloats(floats[:0], added[i].vector)
		b.Add(added[i].row, floats)
	}
	g := b.Graph()
	return g, g.Try(func() error {
		steps = -1 // it takes long from step to step
		return step()
	})
}

// storeGraph writes a graph with its number, if it has rows, in place of others. Then it shows all that there are to
// reads.
func (s *Store) storeGraph(
	x *keptIndex, era uint64, g *nearest.Graph, number uint32, next graphSet, replaced []*segment,
) (gone bool, err error) {
	var ops []engine.Op
	size := max(1, min(graphPart, s.limits.Value/2, s.limits.CommitBytes/16))
	if g.Len() > 0 {
		for part := range slices.Chunk(g.Append(nil), size) {
			op := engine.Op{Kind: engine.Put, Key: x.graphKey(number, uint32(len(ops))), Value: part}
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
				Kind: engine.Put, Key: x.graphKey(number, lastPart), Value: binary.AppendUvarint(nil, uint64(len(ops))),
			})
		}
		for _, old := range replaced {
			last = append(last, engine.Op{Kind: engine.Delete, Key: x.graphKey(old.number, lastPart)})
		}
		u := s.usages.Of(x.id)
		defer u.EndWrite(u.BeginWrite(0, 0, math.MaxInt64))
		if !s.state.Load().live[x.id] {
			gone = true
			return nil
		}
		return s.commit(last)
	})
	if err != nil || gone {
		return gone, err
	}
	s.graphs.set(x.id, era, s.state.Load().live, next)
	var keys [][]byte
	for _, old := range replaced {
		start, end := x.graphKey(old.number, 0), x.graphKey(old.number, lastPart)
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
