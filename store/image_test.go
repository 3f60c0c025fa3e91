package store

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
	"github.com/cqld/cqld/store/index"
)

// openImaged opens a store that makes images.
func openImaged(t testing.TB, o Options) *Store {
	t.Helper()
	if o.Image == nil {
		o.Engine = func(f engine.Fold) (engine.Engine, error) { return memory.Open(f), nil }
	}
	o.Log = zerolog.New(zerolog.NewTestWriter(t))
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeStore(t, s) })
	return s
}

func imageOf(t testing.TB, s *Store) *Image {
	t.Helper()
	i, err := s.Image()
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// TestImage goes back to an image after all kinds of changes, and opens a store that begins with it: each has what the
// image has, with tombstones in force, and neither has what is written to the other.
func TestImage(t *testing.T) {
	s := openImaged(t, Options{})
	define(t, s, newTable(t, "t", "k int", "c int", "v text"), newTable(t, "n", "k int", "", "n counter"))
	table, counters := s.Catalog().Table("ks", "t"), s.Catalog().Table("ks", "n")
	key := types.EncodeInt(1)
	count := func(s *Store) {
		t.Helper()
		m := NewMutation(counters, key)
		m.Row(nil)
		m.Add(counters.Column("n"), 1, s.Timestamp())
		if err := apply(s, m); err != nil {
			t.Fatal(err)
		}
	}
	drop := func(s *Store) { // the partition, in whose rows an old timestamp is hidden from then on
		t.Helper()
		m := NewMutation(table, types.EncodeInt(3))
		m.At(s.Now().Unix())
		m.DeletePartition(s.Timestamp())
		if err := apply(s, m); err != nil {
			t.Fatal(err)
		}
	}
	insertOld := func(s *Store) {
		t.Helper()
		m := NewMutation(table, types.EncodeInt(3))
		m.Row([][]byte{types.EncodeInt(1)})
		m.Set(table.Column("v"), []byte("hidden"), 1, Expiry{})
		if err := apply(s, m); err != nil {
			t.Fatal(err)
		}
	}
	content := func(s *Store) []string {
		t.Helper()
		return slices.Concat(readRows(t, s, &Read{Table: table}), readRows(t, s, &Read{Table: counters}),
			readRows(t, s, &Read{Table: table, Keys: [][]byte{types.EncodeInt(3)}}))
	}
	insert(t, s, table, 1, 1, "a")
	insert(t, s, table, 2, 1, "b")
	drop(s)
	count(s)
	want, last := content(s), s.Timestamp()
	image := imageOf(t, s)

	used := map[uint64]bool{}
	for round := range 3 {
		insert(t, s, table, 1, 2, "later")
		count(s)
		define(t, s, newTable(t, "later", "k int", "", "v text"))
		id := s.Catalog().Table("ks", "later").StoreID
		if used[id] {
			t.Errorf("number %d was used twice", id)
		}
		used[id] = true
		switch round {
		case 1:
			if err := s.Truncate(context.Background(), table); err != nil {
				t.Fatal(err)
			}
		case 2:
			err := s.Define(func(c *schema.Catalog) (*schema.Catalog, error) { return c.WithoutKeyspace("ks"), nil })
			if err != nil {
				t.Fatal(err)
			}
		}
		fork := openImaged(t, Options{Image: image})
		if _, err := s.Restore(image); err != nil {
			t.Fatal(err)
		}
		for _, restored := range []*Store{s, fork} {
			insertOld(restored)
			if got := content(restored); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			if restored.Catalog().Table("ks", "later") != nil {
				t.Error("a table is there that the image lacks")
			}
			if restored.Timestamp() <= last {
				t.Error("timestamps go back")
			}
		}
		if fork.HostID() == s.HostID() {
			t.Error("two stores have one id")
		}
		insert(t, fork, table, 1, 3, "in the fork")
		count(fork)
		if got := content(s); !slices.Equal(got, want) {
			t.Errorf("after writes to the fork: %q, want %q", got, want)
		}
	}
	if _, err := openImaged(t, Options{}).Restore(image); err != nil { // another store, which lacks the system tables
		t.Error(err)
	}
	plain := open(t, "", Options{})
	defer closeStore(t, plain)
	if _, err := plain.Image(); *engineName == "disk" && err == nil {
		t.Error("an engine on disk has made an image")
	}
}

// TestRestoreIndexes goes back to states with and without an index: reads through it find what is there, also when it
// was not built yet.
func TestRestoreIndexes(t *testing.T) {
	s := openImaged(t, Options{})
	define(t, s, newTable(t, "t", "k int", "", "v text"))
	table := s.Catalog().Table("ks", "t")
	insertValue := func(k int32, v string) {
		t.Helper()
		m := NewMutation(table, types.EncodeInt(k))
		m.Row(nil)
		m.Set(table.Column("v"), []byte(v), s.Timestamp(), Expiry{})
		if err := apply(s, m); err != nil {
			t.Fatal(err)
		}
	}
	for k := range int32(3000) {
		insertValue(k, "a")
	}
	plain := imageOf(t, s)
	spec := *table
	spec.Indexes = []*schema.Index{{Name: "i", Targets: []schema.IndexTarget{{Column: "v"}}}}
	indexed := schema.NewTable(spec)
	define(t, s, indexed)
	building := imageOf(t, s) // most likely
	found := func(s *Store, v string) (n int) {
		t.Helper()
		table := s.Catalog().Table("ks", "t")
		r := &Read{Table: table}
		if len(table.Indexes) > 0 {
			r.Lookups = []index.Lookup{{Index: table.Indexes[0], Value: []byte(v)}}
		}
		err := s.Read(t.Context(), r, func(row *Row) (bool, error) {
			if string(row.Values[1]) == v {
				n++
			}
			return true, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	awaitIndex := func(s *Store) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			all := s.state.Load().indexes[uint32(s.Catalog().Table("ks", "t").StoreID)]
			if len(all) == 1 && all[0].Built {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("the index is not built: %v", all)
			}
		}
	}
	awaitIndex(s)
	insertValue(1, "b")
	built := imageOf(t, s)
	for range 3 {
		for i, image := range []*Image{plain, building, built} {
			insertValue(2, "c")
			if _, err := s.Restore(image); err != nil {
				t.Fatal(err)
			}
			fork := openImaged(t, Options{Image: image})
			for _, s := range []*Store{s, fork} {
				for range 2 {
					a, b, c := found(s, "a"), found(s, "b"), found(s, "c")
					wrong := i < 2 && (a != 3000 || b != 0) || i == 2 && (a != 2999 || b != 1) || c != 0
					if wrong {
						t.Errorf("image %d: %d rows with a, %d with b, %d with c", i, a, b, c)
					}
					if i > 0 {
						awaitIndex(s)
					}
				}
			}
		}
	}
}

// TestRestoreUnderLoad restores an image again and again while rows are written, counted, decided on, read, swept,
// truncated and dropped. A batch over two tables is in both or in neither, and nothing waits for ever. When the others
// have stopped, the image is there, and what is counted and decided from then on is counted from its state.
func TestRestoreUnderLoad(t *testing.T) {
	s := openImaged(t, Options{SweepEvery: time.Millisecond})
	define(t, s, newTable(t, "a", "k int", "", "v int"), newTable(t, "b", "k int", "", "v int"),
		newTable(t, "n", "k int", "", "n counter"), newTable(t, "gone", "k int", "", "v int"))
	a, b, n, gone := s.Catalog().Table("ks", "a"), s.Catalog().Table("ks", "b"), s.Catalog().Table("ks", "n"),
		s.Catalog().Table("ks", "gone")
	key := types.EncodeInt(1)
	set := func(table *schema.Table, v int32) *Mutation {
		m := NewMutation(table, key)
		m.Row(nil)
		m.Set(table.Column("v"), types.EncodeInt(v), s.Timestamp(), Expiry{})
		return m
	}
	both := func(v int32) error { return apply(s, set(a, v), set(b, v)) }
	count := func() error {
		m := NewMutation(n, key)
		m.Row(nil)
		m.Add(n.Column("n"), 1, s.Timestamp())
		return apply(s, m)
	}
	type reading = func(context.Context, *Read, func(*Row) (bool, error)) error
	value := func(read reading, table *schema.Table) (v uint32, err error) {
		err = read(t.Context(), &Read{Table: table, Keys: [][]byte{key}}, func(r *Row) (bool, error) {
			cell := r.Values[1]
			v = binary.BigEndian.Uint32(cell[len(cell)-4:])
			return true, nil
		})
		return v, err
	}
	increase := func() error {
		return decideAndWait(s, gone, key, func(now *Snapshot) ([]*Mutation, error) {
			v, err := value(now.Read, gone)
			return []*Mutation{set(gone, int32(v+1))}, err
		})
	}
	for _, err := range []error{both(1), count(), increase()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	image := imageOf(t, s)

	var stop atomic.Bool
	var group sync.WaitGroup
	missing := func(err error) bool { return err != nil && err.Error() == "table gone does not exist" }
	for _, work := range []func() error{
		func() error { return both(int32(s.Timestamp())) },
		count,
		increase,
		func() error { return apply(s, set(b, 1), set(gone, 1), set(a, 1)) },
		func() error { return s.Sweep(context.Background()) },
		func() error { return s.Truncate(context.Background(), gone) },
		func() error {
			return s.Define(func(c *schema.Catalog) (*schema.Catalog, error) { return c.WithoutTable("ks", "gone"), nil })
		},
		func() error { _, err := value(s.Read, a); return err },
		func() error {
			m := NewMutation(a, types.EncodeInt(2))
			m.At(s.Now().Unix())
			m.DeletePartition(s.Timestamp())
			return apply(s, m)
		},
	} {
		group.Go(func() {
			for !stop.Load() {
				if err := work(); err != nil && !missing(err) {
					t.Error(err)
					return
				}
				time.Sleep(50 * time.Microsecond) // so that all have their turns
			}
		})
	}
	for range 200 {
		if _, err := s.Restore(image); err != nil {
			t.Error(err)
			break
		}
		time.Sleep(100 * time.Microsecond)
	}
	stop.Store(true)
	group.Wait()
	va, err := value(s.Read, a)
	if err != nil {
		t.Fatal(err)
	}
	if vb, err := value(s.Read, b); err != nil || va != vb {
		t.Errorf("%d and %d, %v", va, vb, err)
	}
	if _, err := s.Restore(image); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{count(), increase(), s.Sweep(context.Background())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for table, want := range map[*schema.Table]uint32{a: 1, b: 1, n: 2, gone: 2} {
		if v, err := value(s.Read, table); err != nil || v != want {
			t.Errorf("%s has %d, %v; want %d", table.Name, v, err, want)
		}
	}
}
