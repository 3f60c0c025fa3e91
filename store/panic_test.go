package store

import (
	"bytes"
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/tombstones"
)

// panicking is an engine that panics when the keys of one table or index are scanned or removed, or in each update.
type panicking struct {
	engine.Engine
	of      atomic.Uint32 // 0: none
	updates atomic.Bool
}

func (p *panicking) check(key []byte) {
	if of := p.of.Load(); of != 0 && len(key) >= rows.AreaSize && numberOf(key) == of {
		panic("planted")
	}
}

func (p *panicking) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	p.check(start)
	return p.Engine.Scan(start, end, o, fn)
}

func (p *panicking) View(fn func(engine.Reader) error) error {
	return p.Engine.View(func(r engine.Reader) error { return fn(panickingReader{r, p}) })
}

// panickingReader is a snapshot of the engine.
type panickingReader struct {
	engine.Reader
	p *panicking
}

func (r panickingReader) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	r.p.check(start)
	return r.Reader.Scan(start, end, o, fn)
}

func (p *panicking) DeleteRange(start, end []byte) error {
	p.check(start)
	return p.Engine.DeleteRange(start, end)
}

func (p *panicking) Update(ctx context.Context, guards [][]byte, fn func(engine.Txn) error, done func(error)) {
	p.Engine.Update(ctx, guards, func(txn engine.Txn) error {
		if p.updates.Load() {
			panic("planted")
		}
		return fn(txn)
	}, done)
}

// panickingStore is a store on such an engine, with its log.
type panickingStore struct {
	*Store
	*panicking
	t   *testing.T
	log *lockedText
}

// lockedText is a log that is read while it is written.
type lockedText struct{ text atomic.Pointer[string] }

func (l *lockedText) Write(line []byte) (int, error) { // one call at a time, by zerolog.SyncWriter
	text := l.String() + string(line)
	l.text.Store(&text)
	return len(line), nil
}

func (l *lockedText) String() string {
	if p := l.text.Load(); p != nil {
		return *p
	}
	return ""
}

// openPanicking opens a store in a folder.
func openPanicking(t *testing.T, dir string) *panickingStore {
	t.Helper()
	s := &panickingStore{panicking: new(panicking), t: t, log: new(lockedText)}
	var err error
	s.Store, err = Open(Options{
		Engine: func(f engine.Fold) (_ engine.Engine, err error) {
			s.panicking.Engine, err = openEngine(dir, f)
			return s.panicking, err
		},
		SweepEvery: time.Millisecond, Log: zerolog.New(zerolog.SyncWriter(s.log)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// await waits for a line of the log that has all texts and the stack of the planted panic.
func (s *panickingStore) await(texts ...string) {
	s.t.Helper()
	texts = append(texts, "panic: planted", "panicking).")
	eventually(s.t, strings.Join(texts, ", "), func() bool {
		for line := range strings.Lines(s.log.String()) {
			found := 0
			for _, text := range texts {
				if strings.Contains(line, text) {
					found++
				}
			}
			if found == len(texts) {
				return true
			}
		}
		return false
	})
}

func table(s *panickingStore, name string) *schema.Table { return s.Catalog().Table("ks", name) }

func number(s *panickingStore, name string) uint32 { return uint32(table(s, name).StoreID) }

// TestBackgroundPanics panics in each kind of background work on the table t: the log names the table, the work on the
// other table and all statements go on, and the work on t begins again in its next round, or when the store is opened
// again.
func TestBackgroundPanics(t *testing.T) {
	for name, test := range map[string]func(s *panickingStore){
		"index": func(s *panickingStore) {
			s.of.Store(number(s, "t"))
			setIndexesOf(s, "t", "u")
			s.await("ks.t", "an index is not built until the next start")
			eventually(s.t, "the other index", func() bool {
				return !s.IsBuilding(table(s, "u"), table(s, "u").Indexes[0])
			})
			if !s.IsBuilding(table(s, "t"), table(s, "t").Indexes[0]) {
				s.t.Error("the index is built")
			}
		},
		"view": func(s *panickingStore) {
			s.of.Store(number(s, "t"))
			for _, base := range []string{"t", "u"} {
				define(s.t, s.Store, viewOf(table(s, base), newTable(s.t, base+"view", "c int", "k int", "v text")))
			}
			s.await("ks.t", "tview", "a view is not filled until the next start")
			eventually(s.t, "the other view", func() bool { return s.IsViewBuilt(table(s, "uview")) })
			if s.IsViewBuilt(table(s, "tview")) {
				s.t.Error("the view is filled")
			}
		},
		"sweep": func(s *panickingStore) {
			s.of.Store(number(s, "t"))
			s.usages.Of(number(s, "t")).NoteDue(0)
			s.usages.Of(number(s, "u")).NoteDue(0)
			s.await("sweep ks.t")
			eventually(s.t, "the other table swept", func() bool { return !s.wantsSweep(number(s, "u")) })
			s.of.Store(0)
			eventually(s.t, "the table swept", func() bool { return !s.wantsSweep(number(s, "t")) })
		},
		"purge of dropped tables": func(s *panickingStore) {
			ids := []uint64{table(s, "t").StoreID, table(s, "u").StoreID}
			s.of.Store(uint32(ids[0]))
			for _, name := range []string{"t", "u"} {
				if err := s.Truncate(context.Background(), table(s, name)); err != nil {
					s.t.Fatal(err)
				}
				insert(s.t, s.Store, table(s, name), 1, 1, "before")
			}
			s.await("purge table")
			eventually(s.t, "the other table purged", func() bool { return storedKeys(s.t, s.Store, ids[1]) == 0 })
			s.of.Store(0)
			s.wakePurge()
			eventually(s.t, "the table purged", func() bool { return storedKeys(s.t, s.Store, ids[0]) == 0 })
		},
		"purge hint": func(s *panickingStore) {
			hint := func(name string) tombstones.PurgeHint {
				start := rows.AppendArea(nil, number(s, name), rows.AreaRows)
				end := rows.Successor(bytes.Clone(start))
				return tombstones.PurgeHint{Table: table(s, name), Id: number(s, name), Start: start, End: end}
			}
			s.of.Store(number(s, "t"))
			s.purgeHints <- hint("t")
			s.await("ks.t", "cannot purge dead rows")
			s.of.Store(0)
			looked := s.SweepMetrics().Rows
			s.purgeHints <- hint("t")
			eventually(s.t, "the hint followed", func() bool { return s.SweepMetrics().Rows > looked })
		},
		"stale entries": func(s *panickingStore) {
			setIndexesOf(s, "u")
			waitForIndexes(s.t, s.Store)
			s.updates.Store(true)
			s.noteStale(s.state.Load().indexes[number(s, "u")][0], []byte("entry"), []byte("row"))
			s.await("cannot work on an index yet")
			s.updates.Store(false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openPanicking(t, dir)
			define(t, s.Store, newTable(t, "t", "k int", "c int", "v text"), newTable(t, "u", "k int", "c int", "v text"))
			for _, name := range []string{"t", "u"} {
				insert(t, s.Store, table(s, name), 1, 1, "before")
			}
			test(s)
			s.of.Store(0)
			for _, name := range []string{"t", "u"} {
				insert(t, s.Store, table(s, name), 2, 2, "after")
				if got := all(t, s.Store, table(s, name)); !strings.Contains(got, "before") || !strings.Contains(got, "after") {
					t.Errorf("%s has %s", name, got)
				}
			}
			closeStore(t, s.Store)
			s = openPanicking(t, dir)
			defer closeStore(t, s.Store)
			waitForIndexes(t, s.Store)
			if view := table(s, "tview"); view != nil {
				if got := all(t, s.Store, view); strings.Count(got, "v=") != 2 {
					t.Errorf("the view has %s", got)
				}
			}
		})
	}
}

// setIndexesOf adds an index of v to tables.
func setIndexesOf(s *panickingStore, tables ...string) {
	s.t.Helper()
	for _, name := range tables {
		if err := s.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
			spec := *c.Table("ks", name)
			spec.Indexes = []*schema.Index{{Name: name + "_v", Targets: []schema.IndexTarget{{Column: "v"}}}}
			return c.WithTable(schema.NewTable(spec)), nil
		}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestFilterPanics panics while the tombstones of a table are loaded, as at a start: reads find them all the same, and
// the next filter is made.
func TestFilterPanics(t *testing.T) {
	s := openPanicking(t, t.TempDir())
	defer closeStore(t, s.Store)
	define(t, s.Store, newTable(t, "t", "k int", "c int", "v text"))
	for k := range 2 {
		m := newInsert(table(s, "t"), k, 1, "v")
		if k == 0 {
			m.DeletePartition(5)
		}
		if err := apply(s.Store, m); err != nil {
			t.Fatal(err)
		}
	}
	for _, of := range []uint32{number(s, "t"), 0} {
		s.of.Store(of)
		s.makeFilters([]uint32{number(s, "t")})
		s.of.Store(0)
		s.await("cannot load the tombstones of a table")
		if got := all(t, s.Store, table(s, "t")); got != "k=1 c=1 v='v'" {
			t.Errorf("the table has %s", got)
		}
	}
}

// TestGraphPanics panics while rows are added to the graphs of an index of vectors: that is given up, reads compare the
// rows, and the store is closed.
func TestGraphPanics(t *testing.T) {
	s := openPanicking(t, t.TempDir())
	defer closeStore(t, s.Store)
	defineVectors(t, s.Store, 4)
	waitForIndexes(t, s.Store)
	w := newVectorWriter(t, s.Store, new(clock), 4)
	s.of.Store(w.vectorIndex().ID)
	for k := range int32(300) {
		w.apply(w.mutation(k, 0, 0))
	}
	s.await("ks.vectors", "no more rows are added to the graphs of an index")
	s.of.Store(0)
	if approximate := w.compare(5); approximate != 0 {
		t.Errorf("%d reads use a graph", approximate)
	}
}

// TestWritePanics panics in writes of each kind: the one that panics fails, later ones of the same partition do not,
// and a definition, which waits for writes, and Close come to an end.
func TestWritePanics(t *testing.T) {
	s := openPanicking(t, t.TempDir())
	define(t, s.Store, newTable(t, "t", "k int", "c int", "v text"))
	define(t, s.Store, newTable(t, "counters", "k int", "c int", "v counter"))
	define(t, s.Store, viewOf(table(s, "t"), newTable(t, "view", "c int", "k int", "v text")))
	waitForIndexes(t, s.Store)
	change := func() *Mutation {
		m := NewMutation(table(s, "counters"), types.EncodeInt(1))
		m.Row([][]byte{types.EncodeInt(1)})
		m.Add(table(s, "counters").Column("v"), 1, 1)
		return m
	}
	decide := func(fn func(*Snapshot) ([]*Mutation, error)) error {
		done := make(chan error, 1)
		s.Decide(context.Background(), table(s, "t"), types.EncodeInt(1), fn, func(err error) { done <- err })
		return <-done
	}
	for name, write := range map[string]func() error{
		"a row of a table with a view": func() error { return apply(s.Store, newInsert(table(s, "t"), 1, 1, "v")) },
		"a counter":                    func() error { return apply(s.Store, change()) },
		"a decision": func() error {
			return decide(func(*Snapshot) ([]*Mutation, error) { return []*Mutation{newInsert(table(s, "t"), 1, 1, "v")}, nil })
		},
	} {
		s.updates.Store(true)
		if err := write(); !panics.Is(err) {
			t.Errorf("%s: %v", name, err)
		}
		s.updates.Store(false)
		if err := write(); err != nil {
			t.Errorf("%s, the second time: %v", name, err)
		}
	}
	if err := decide(func(*Snapshot) ([]*Mutation, error) { panic("planted") }); !panics.Is(err) {
		t.Errorf("a decision that panics: %v", err)
	}
	define(t, s.Store, newTable(t, "plain", "k int", "c int", "v text"))
	broken := newInsert(table(s, "plain"), 1, 1, "v")
	broken.prefix = nil // which nothing expects
	if err := apply(s.Store, broken); !panics.Is(err) {
		t.Errorf("a blind write: %v", err)
	}
	insert(t, s.Store, table(s, "plain"), 1, 1, "v")
	setIndexesOf(s, "plain") // which waits for writes
	for _, name := range []string{"t", "plain"} {
		if err := s.Truncate(context.Background(), table(s, name)); err != nil {
			t.Error(err)
		}
	}
	closeStore(t, s.Store)
}
