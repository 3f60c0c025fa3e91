package store

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
)

// builder builds indexes and views over existing rows, and removes stale entries that reads find.
type builder struct {
	*core
	definer *definer

	building atomic.Pointer[buildProgress] // the current build
	built    atomic.Uint64                 // number of builds
	unbuilt  atomic.Uint64                 // number of failures
	givenUp  map[uint32]bool               // indexes whose build panicked, by number: of the goroutine that builds
}

// followIndexes waits for the writes that do not know the indexes of a new catalog, and has new indexes built.
func (s *definer) followIndexes(old, next *state) {
	changed := false
	for id := range next.live {
		if sameIndexes(old.indexes[id], next.indexes[id]) {
			continue
		}
		changed = true
		if old.live[id] {
			s.usages.Of(id).AwaitWrites()
		}
	}
	if changed {
		s.wakeIndexing()
	}
}

// IsBuilding reports whether an index of a table has not the entries of all rows yet: reads do without it until then.
func (s *builder) IsBuilding(t *schema.Table, x *schema.Index) bool {
	wanted, current := index.New(t, x), s.state.Load()
	return wanted != nil && slices.ContainsFunc(current.indexes[current.ids[t.ID]], func(x *index.Index) bool {
		return x.Name == wanted.Name && !x.Built
	})
}

func (s *builder) keepIndexes() {
	defer s.running.Done()
	for {
		var err error
		select {
		case <-s.closing.Done():
			return
		case <-s.indexing:
			if err = panics.Call(s.buildIndexes); errors.Is(err, errRestored) {
				continue // Restore begins the builds again
			}
			if err != nil {
				s.unbuilt.Add(1)
			}
		case first := <-s.stale:
			err = panics.Call(func() error { return s.removeStale(first) })
		}
		if err != nil && s.closing.Err() == nil && !errors.Is(err, engine.ErrClosed) {
			panics.Log(&s.log, err).Msg("cannot work on an index yet")
			time.AfterFunc(purgeAgain, s.wakeIndexing)
		}
	}
}

func (s *builder) buildIndexes() error {
	if !s.leads() {
		return nil
	}
	era := s.restores.Load()
	all := s.awaitDefinition().indexes
	if err := s.settle(); err != nil { // from now on all nodes write the entries of their changes
		return err
	}
	for _, all := range all {
		for _, x := range all {
			if x.Built || x.Retired != 0 || s.givenUp[x.ID] {
				continue
			}
			err := panics.Call(func() error { return s.buildIndex(x, era) })
			if panics.Is(err) {
				s.giveUp(x, err)
				continue
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// giveUp leaves an index or a view as it is until the next start: its build panicked, and would again.
func (s *builder) giveUp(x *index.Index, err error) {
	if s.givenUp == nil {
		s.givenUp = map[uint32]bool{}
	}
	s.givenUp[x.ID] = true
	s.unbuilt.Add(1)
	line := panics.Log(&s.log, err).Str("table", x.TableName())
	if x.View != nil {
		line.Str("view", x.View.Name).Msg("a view is not filled until the next start: it lacks rows of its table")
		return
	}
	line.Str("index", x.IndexName()).Msg("an index is not built until the next start: reads do without it")
}

// buildProgress is a build that is under way.
type buildProgress struct {
	index *index.Index
	began time.Time
	total int64
	rows  atomic.Int64
	token atomic.Int64 // up to which rows have their entries
}

// advance notes the key that the build goes on from; nil: it is done.
func (b *buildProgress) advance(position []byte) {
	b.token.Store(math.MaxInt64)
	if len(position) >= rows.AreaSize+rows.TokenSize {
		b.token.Store(rows.TokenOf(position))
	}
}

// BuildProgress is how far the build of an index or a view has come.
type BuildProgress struct {
	Table *schema.Table
	View  *schema.Table // nil: it is an index
	Name  string        // of the index or the view
	Began time.Time
	Rows  int64   // that have their entries
	Total int64   // rows, estimated when it began
	Token int64   // the entries of rows up to it are made
	Part  float64 // of the tokens, from 0 to 1
}

// BuildProgress returns how far the build has come that is under way, or nil. The next one begins when it is done.
func (s *builder) BuildProgress() *BuildProgress {
	b := s.building.Load()
	if b == nil {
		return nil
	}
	x := b.index
	p := &BuildProgress{
		Table: x.Table, View: x.View, Began: b.began, Rows: b.rows.Load(), Total: b.total, Token: b.token.Load(),
	}
	p.Part = float64(uint64(p.Token)^1<<63) / (1 << 64)
	if p.Name = x.IndexName(); x.View != nil {
		p.Name = x.View.Name
	}
	return p
}

// BuildsWaiting is how many indexes and views are being built or wait for it.
func (s *builder) BuildsWaiting() (n int) {
	for _, all := range s.state.Load().indexes {
		for _, x := range all {
			if !x.Built {
				n++
			}
		}
	}
	return n
}

// Builds is how many indexes and views were built since the store was opened.
func (s *builder) Builds() uint64 { return s.built.Load() }

// buildIndex writes the entries of all existing rows. Concurrent writes add the entries of their own rows. It fails if
// the store is restored meanwhile; era is the number of restores before.
func (s *builder) buildIndex(x *index.Index, era uint64) error {
	began := time.Now()
	progress := &buildProgress{index: x, began: s.now(), total: s.usages.Of(x.TableID).Estimate().Rows}
	progress.token.Store(math.MinInt64)
	s.building.Store(progress)
	defer s.building.Store(nil)
	position := rows.AppendArea(nil, x.TableID, rows.AreaRows)
	end := rows.Successor(bytes.Clone(position))
	var maker index.Maker
	entries := 0
	for position != nil {
		if err := s.closing.Err(); err != nil {
			return err
		}
		var ops []engine.Op
		var next []byte
		gone := false
		err := s.step(era, func() (err error) {
			if x.View != nil {
				var seen, written int
				seen, written, next, gone, err = viewBuilder{s.core}.buildFrom(x, position, end)
				progress.rows.Add(int64(seen))
				entries += written
				return err
			}
			if ops, next, err = s.entriesFrom(x, &maker, position, end, &progress.rows); err == nil {
				gone, err = s.commitEntries(x, ops)
			}
			return err
		})
		if errors.Is(err, rows.ErrRow) || errors.Is(err, rows.ErrKey) {
			s.log.Error().Err(err).Str("table", x.TableName()).Msg("an index is not built: reads do without it")
			return nil
		}
		if err != nil || gone {
			return err
		}
		position, entries = next, entries+len(ops)
		progress.advance(position)
	}
	whole := *x
	whole.Built = true
	if kept, err := s.definer.replaceIndex(&whole, era); err != nil || kept == nil {
		return err
	}
	s.built.Add(1)
	if entries > 0 {
		s.log.Info().Str("table", x.TableName()).Int("entries", entries).
			Dur("took", time.Since(began)).Msg("an index is built")
	}
	return nil
}

// entriesFrom makes the entries of some rows. next is the key to continue from; nil: there are no more rows.
func (s *builder) entriesFrom(
	x *index.Index, maker *index.Maker, start, end []byte, counted *atomic.Int64,
) (ops []engine.Op, next []byte, err error) {
	seen, size := 0, 0
	limit := min(chunkRows, s.limits.CommitOps/2)
	err = s.engine.Scan(start, end, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
		prefix := rows.PartitionPrefixLength(key)
		if prefix < 0 {
			return false, rows.ErrKey
		}
		err := maker.EachEntry(x, key, prefix, value, func(entry []byte) bool {
			op := index.EntryOp(entry, key)
			ops, size = append(ops, op), size+len(op.Key)
			return true
		})
		if seen++; seen < limit && size < min(chunkBytes, s.limits.CommitBytes/4) && len(ops) < limit {
			return true, err
		}
		next = append(bytes.Clone(key), 0)
		return false, err
	})
	counted.Add(int64(seen))
	return ops, next, err
}

// commitEntries commits entries of rows, unless the index is gone.
func (s *core) commitEntries(x *index.Index, ops []engine.Op) (gone bool, err error) {
	u := s.usages.Of(x.TableID)
	defer u.EndWrite(u.BeginWrite(0, 0, math.MaxInt64))
	if !slices.ContainsFunc(s.state.Load().indexes[x.TableID], func(o *index.Index) bool { return o.ID == x.ID }) {
		return true, nil
	}
	for len(ops) > 0 { // the entries of one row may be many
		n := min(len(ops), s.limits.CommitOps/2)
		if err := s.commit(ops[:n]); err != nil {
			return false, err
		}
		ops = ops[n:]
	}
	return false, nil
}

// A definition waits for views of small tables: they have all rows when CREATE returns.
const (
	awaitedRows = 10_000
	awaitedTime = 2 * time.Second
)

// IsViewBuilt reports whether a view has the rows that its base had before the view was defined.
func (s *builder) IsViewBuilt(view *schema.Table) bool {
	x := s.current().viewOf(view)
	return x != nil && x.Built
}

// awaitViews waits until the views are built that a definition has made of small tables. It gives that up when builds
// have failed more often than before the definition.
func (s *builder) awaitViews(before, after *state, failed uint64) {
	if s.still || !after.anyViews {
		return
	}
	end := time.Now().Add(awaitedTime)
	for id, all := range after.indexes {
		for _, x := range all {
			if x.View == nil || x.Built || before.live[x.ID] || s.usages.Of(id).Estimate().Rows > awaitedRows {
				continue
			}
			for time.Now().Before(end) && s.isBuilding(x) && s.unbuilt.Load() == failed {
				time.Sleep(100 * time.Microsecond)
			}
		}
	}
}

// isBuilding reports whether a view lacks rows of its base, and will have them.
func (s *builder) isBuilding(x *index.Index) bool {
	now := s.state.Load().viewOf(x.View)
	return s.closing.Err() == nil && now != nil && !now.Built && now.ID == x.ID
}
