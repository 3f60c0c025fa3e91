package store_test

import (
	"sync/atomic"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
)

// TestAppend adds elements one by one to a list, a set and a map of one row: what is folded for each does not grow
// with the row, and all are there, also when the folder is opened again.
func TestAppend(t *testing.T) {
	n := int32(6000)
	if *engineName == "hostile" {
		n = 200
	}
	dir := t.TempDir()
	var folded atomic.Int64
	o := store.Options{Engine: func(f engine.Fold) (engine.Engine, error) {
		counted := func(dst, key, existing, delta []byte) ([]byte, error) {
			folded.Add(int64(len(existing) + len(delta)))
			return f(dst, key, existing, delta)
		}
		return openEngine(dir, counted)
	}}
	s := open(t, "", o)
	define(t, s, newTable(t, "t", "k int", "", "l list<int>, s set<int>, m map<int:int>"))
	table := s.Catalog().Table("ks", "t")
	appends := map[string]func(m *store.Mutation, i int32){
		"l": func(m *store.Mutation, i int32) {
			place := store.AppendPlace(nil, int64(i), uint64(i))
			m.SetPart(table.Column("l"), place, types.EncodeInt(i), s.Timestamp(), store.Expiry{})
		},
		"s": func(m *store.Mutation, i int32) {
			m.SetPart(table.Column("s"), types.EncodeInt(i), []byte{}, s.Timestamp(), store.Expiry{})
		},
		"m": func(m *store.Mutation, i int32) {
			m.SetPart(table.Column("m"), types.EncodeInt(i), types.EncodeInt(i), s.Timestamp(), store.Expiry{})
		},
	}
	for name, add := range appends {
		folded.Store(0)
		for i := range n {
			m := store.NewMutation(table, types.EncodeInt(1))
			m.Row(nil)
			add(m, i)
			if err := apply(s, m); err != nil {
				t.Fatal(err)
			}
		}
		if each := folded.Load() / int64(n); *engineName != "hostile" && each > 24<<10 {
			t.Errorf("for each of %d elements of %s, %d bytes were folded", n, name, each)
		}
	}
	expect := func() {
		t.Helper()
		got := rowValues(t, s, &store.Read{Table: table, Keys: [][]byte{types.EncodeInt(1)}})
		for name := range appends {
			value := got[table.Column(name).Index]
			if count := int32(len(value)) / elementSize(table.Column(name)); count != n {
				t.Errorf("%s has %d of %d elements", name, count, n)
			}
		}
	}
	expect()
	if *engineName == "hostile" {
		closeStore(t, s)
		return
	}
	closeStore(t, s)
	s = open(t, "", o)
	defer closeStore(t, s)
	table = s.Catalog().Table("ks", "t")
	expect()
	m := store.NewMutation(table, types.EncodeInt(1))
	m.Row(nil)
	m.Clear(table.Column("l"), s.Timestamp())
	if err := apply(s, m); err != nil {
		t.Fatal(err)
	}
	got := rowValues(t, s, &store.Read{Table: table})
	if got[table.Column("l").Index] != nil || got[table.Column("s").Index] == nil {
		t.Error("a list that was deleted has elements, or a set that was not has none")
	}
}

// elementSize is how many bytes an element takes in the value of a list, set or map of ints.
func elementSize(c *schema.Column) int32 {
	if _, ok := c.Type.(*types.Map); ok {
		return 16
	}
	return 8
}

// rowValues are the values of the only row of a read.
func rowValues(t *testing.T, s *store.Store, r *store.Read) (values [][]byte) {
	t.Helper()
	err := s.Read(t.Context(), r, func(row *store.Row) (bool, error) {
		for _, v := range row.Values {
			if v != nil {
				v = append([]byte{}, v...)
			}
			values = append(values, v)
		}
		return true, nil
	})
	if err != nil || len(values) != len(r.Table.Columns) {
		t.Fatalf("%d values, %v", len(values), err)
	}
	return values
}
