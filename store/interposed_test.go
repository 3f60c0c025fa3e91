package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// interposed is an engine that tests stand in front of.
type interposed struct {
	engine.Engine
	beforeView   atomic.Pointer[func()]       // called once
	beforeCommit atomic.Pointer[func()]       // called once
	afterCommit  atomic.Pointer[func() error] // called once, when the commit was applied; its error is what Commit says
	syncError    atomic.Pointer[error]        // what Sync says; nil: it works
}

func openInterposed(t *testing.T) (*Store, *interposed) { return openInterposedIn(t, "") }

// openInterposedIn opens it in a folder, or in memory if dir is empty.
func openInterposedIn(t *testing.T, dir string) (*Store, *interposed) {
	i := new(interposed)
	return open(t, dir, Options{Engine: func(f engine.Fold) (_ engine.Engine, err error) {
		i.Engine, err = openEngine(dir, f)
		return i, err
	}}), i
}

// Sync fails with syncError.
func (i *interposed) Sync() error {
	if err := i.syncError.Load(); err != nil {
		return *err
	}
	return i.Engine.Sync()
}

// View calls beforeView first.
func (i *interposed) View(fn func(engine.Reader) error) error {
	if before := i.beforeView.Swap(nil); before != nil {
		(*before)()
	}
	return i.Engine.View(fn)
}

// Commit calls afterCommit.
func (i *interposed) Commit(ops []engine.Op, done func(error)) {
	if before := i.beforeCommit.Swap(nil); before != nil {
		(*before)()
	}
	after := i.afterCommit.Swap(nil)
	i.Engine.Commit(ops, func(err error) {
		if after != nil {
			err = (*after)()
		}
		done(err)
	})
}

// TestTruncateUnderRead truncates a table when a read has found out where its rows are, and has not begun: it reads
// what there is afterwards.
func TestTruncateUnderRead(t *testing.T) {
	s, i := openInterposed(t)
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "c int", "v text"))
	table := s.Catalog().Table("ks", "t")
	for k := range 20 {
		insert(t, s, table, k, 1, "before")
	}
	truncate := func() {
		if err := s.Truncate(context.Background(), table); err != nil {
			t.Error(err)
		}
		insert(t, s, s.Catalog().Table("ks", "t"), 1, 1, "after")
		eventually(t, "old rows purged", func() bool { return storedKeys(t, s, table.StoreID) == 0 })
	}
	i.beforeView.Store(&truncate)
	if got := all(t, s, table); got != "k=1 c=1 v='after'" {
		t.Errorf("the read gives %s", got)
	}
}

// TestUnknownDefinition makes the engine not know whether it has stored a definition.
func TestUnknownDefinition(t *testing.T) {
	s, i := openInterposed(t)
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "c int", "v text"))
	table := s.Catalog().Table("ks", "t")
	insert(t, s, table, 1, 1, "a")
	drop := func(c *schema.Catalog) (*schema.Catalog, error) { return c.WithoutTable("ks", "t"), nil }

	// It says so twice: the table stays, though what removes its rows has been stored.
	var unknown func() error
	unknown = func() error {
		unknown = func() error { return engine.ErrUnknown }
		i.afterCommit.Store(&unknown)
		return engine.ErrUnknown
	}
	i.afterCommit.Store(&unknown)
	if err := s.Define(drop); err == nil {
		t.Error("a definition of which nothing is known succeeds")
	}
	define(t, s, newTable(t, "u", "k int", "c int", "v text"))
	if err := s.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
		return c.WithoutTable("ks", "u"), nil
	}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other table's rows purged", func() bool {
		found, err := s.engine.Get(deadTableKey(uint32(table.StoreID)+1), func([]byte) error { return nil })
		return err == nil && !found
	})
	if got := all(t, s, table); got != "k=1 c=1 v='a'" {
		t.Errorf("the rows are %s", got)
	}

	once := func() error { return engine.ErrUnknown }
	i.afterCommit.Store(&once)
	if err := s.Define(drop); err != nil || s.Catalog().Table("ks", "t") != nil {
		t.Errorf("a definition that is stored at the second time: %v", err)
	}
}

// TestFailedDefinition lets definitions fail when the engine has them already: they are not there either when the
// store is opened again, and their numbers are not given to other tables.
func TestFailedDefinition(t *testing.T) {
	unknown := func() error { return engine.ErrUnknown }
	for name, fail := range map[string]func(i *interposed) (mend func()){
		"sync fails": func(i *interposed) func() {
			broken := errors.New("nothing can be synced")
			i.syncError.Store(&broken)
			return func() { i.syncError.Store(nil) }
		},
		"outcome unknown": func(i *interposed) func() {
			twice := func() error { i.afterCommit.Store(&unknown); return engine.ErrUnknown }
			i.afterCommit.Store(&twice)
			return func() {}
		},
	} {
		for _, undoneBy := range []string{"closing", "the next definition", "nothing else"} {
			t.Run(name+", undone by "+undoneBy, func(t *testing.T) {
				dir := t.TempDir()
				s, i := openInterposedIn(t, dir)
				kept := newTable(t, "kept", "k int", "c int", "v text")
				define(t, s, kept)
				insert(t, s, kept, 1, 1, "a")
				mend := fail(i)
				failed := newTable(t, "failed", "k int", "c int", "v text")
				err := s.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
					return c.WithTable(failed).WithoutTable("ks", "kept"), nil
				})
				if err == nil || s.Catalog().Table("ks", "failed") != nil || s.Catalog().Table("ks", "kept") == nil {
					t.Fatalf("define says %v", err)
				}
				mend()
				switch undoneBy {
				case "the next definition":
					define(t, s, newTable(t, "next", "k int", "c int", "v text"))
				case "nothing else":
					s.wakePurge()
					eventually(t, "the definition undone", func() bool {
						s.defining.Lock()
						defer s.defining.Unlock()
						return len(s.toUndo) == 0
					})
				}
				closeStore(t, s)
				s = open(t, dir, Options{})
				defer closeStore(t, s)
				if s.Catalog().Table("ks", "failed") != nil {
					t.Error("the table whose definition failed is there")
				}
				if got := all(t, s, s.Catalog().Table("ks", "kept")); got != "k=1 c=1 v='a'" {
					t.Errorf("the rows are %s", got)
				}
				define(t, s, newTable(t, "last", "k int", "c int", "v text"))
				numbers := map[uint64]string{}
				for _, table := range s.Catalog().Keyspace("ks").Tables {
					if other := numbers[table.StoreID]; other != "" {
						t.Errorf("%s and %s have the same number", other, table.Name)
					}
					numbers[table.StoreID] = table.Name
				}
			})
		}
	}
}

// TestDamage damages a row and the tombstones of a partition: they are neither read nor written any more, all others
// are, and a sweep passes the row.
func TestDamage(t *testing.T) {
	var c clock
	c.micros.Store(1000 * 1e6)
	s := open(t, "", Options{Now: c.now})
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "c int", "v text"))
	table := s.Catalog().Table("ks", "t")
	for k := range 3 {
		m := newInsert(table, k, 1, fmt.Sprint("row ", k))
		m.DeletePartition(-5)
		m.Row([][]byte{types.EncodeInt(2)})
		m.At(900)
		m.DeleteRow(1)
		if err := apply(s, m); err != nil {
			t.Fatal(err)
		}
	}
	row := rows.AppendClustering(append(rows.AppendPartition(nil, table, uint32(table.StoreID), types.EncodeInt(1)),
		rows.KindRow), table, [][]byte{types.EncodeInt(1)})
	tombs := rows.AppendPartition(nil, table, uint32(table.StoreID), types.EncodeInt(2))
	rows.SetArea(tombs, uint32(table.StoreID), rows.AreaTombstones)
	damage := func(key []byte) {
		if err := s.commit([]engine.Op{{Kind: engine.Put, Key: key, Value: []byte{0xFF, 0xFF}}}); err != nil {
			t.Fatal(err)
		}
	}
	read := func(k int32) error {
		return s.Read(context.Background(), &Read{Table: table, Keys: [][]byte{types.EncodeInt(k)}},
			func(*Row) (bool, error) { return true, nil })
	}
	damage(row)
	if err := s.Sweep(context.Background()); err != nil {
		t.Errorf("the sweep fails: %v", err)
	}
	if m := s.SweepMetrics(); m.Removed < 3 {
		t.Errorf("the sweep purged %d rows, want all that can be", m.Removed)
	}
	damage(tombs)
	for k, want := range []string{"", rows.ErrRow.Error(), rows.ErrTombstone.Error()} {
		if err := read(int32(k)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("reading partition %d: %v", k, err)
		}
		m := newInsert(table, k, 1, "again")
		m.DeletePartition(-4)
		err := apply(s, m)
		if err == nil { // an engine that folds when it is read
			err = read(int32(k))
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("writing to partition %d: %v", k, err)
		}
	}
}

// TestSweepOfLargeRows sweeps rows that are together more than an engine takes at once.
func TestSweepOfLargeRows(t *testing.T) {
	var c clock
	c.micros.Store(1000 * 1e6)
	s := open(t, "", Options{Now: c.now})
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "c int", "v text, w text"))
	table := s.Catalog().Table("ks", "t")
	const rows = 12
	for i := range rows {
		m := newInsert(table, 1, i, strings.Repeat("v", 200<<10))
		m.At(900)
		m.Set(table.Column("w"), nil, 1, Expiry{})
		if err := apply(s, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Sweep(context.Background()); err != nil {
		t.Fatal(err)
	}
	if m := s.SweepMetrics(); m.Rewritten != rows || m.Removed != 0 {
		t.Errorf("%d rows were rewritten and %d removed", m.Rewritten, m.Removed)
	}
}

// TestTruncateUnderWrite truncates a table while a write to it is on its way to the engine: what it writes is purged
// too.
func TestTruncateUnderWrite(t *testing.T) {
	s, i := openInterposed(t)
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "c int", "v text"))
	table := s.Catalog().Table("ks", "t")
	truncate := func() {
		if err := s.Truncate(context.Background(), table); err != nil {
			t.Error(err)
		}
		time.Sleep(20 * time.Millisecond) // a purge that does not wait would be over
	}
	i.beforeCommit.Store(&truncate)
	insert(t, s, table, 1, 1, "late")
	eventually(t, "the table purged", func() bool {
		found, err := s.engine.Get(deadTableKey(uint32(table.StoreID)), func([]byte) error { return nil })
		return err == nil && !found
	})
	if n := storedKeys(t, s, table.StoreID); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}
