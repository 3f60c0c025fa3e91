package store

import (
	"encoding/binary"
	"strconv"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// BenchmarkIndexed reads the ten rows of a value among 200,000 rows, through an index and without it, and writes rows
// with an index and without.
func BenchmarkIndexed(b *testing.B) {
	const n, same = 200_000, 10
	for _, indexed := range []bool{false, true} {
		s := open(b, "", Options{})
		t := *newTable(b, "indexed", "k bigint", "", "v int, w text")
		if indexed {
			t.Indexes = []*schema.Index{{Name: "i", Targets: []schema.IndexTarget{{Column: "v"}}}}
		}
		define(b, s, schema.NewTable(t))
		waitForIndexes(b, s)
		table := s.Catalog().Table("ks", "indexed")
		lookups := func(v int) []Lookup {
			if !indexed {
				return nil
			}
			return []Lookup{{Index: table.Indexes[0], Value: types.EncodeInt(int32(v))}}
		}
		spent := processorTime(func() {
			for i := range n {
				m := NewMutation(table, binary.BigEndian.AppendUint64(nil, uint64(i)))
				m.Row(nil)
				m.Mark(1, Expiry{})
				m.Set(table.Column("v"), types.EncodeInt(int32(i/same)), 1, Expiry{})
				m.Set(table.Column("w"), []byte("some text"), 1, Expiry{})
				if err := apply(s, m); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("index="+strconv.FormatBool(indexed), func(b *testing.B) {
			for i := range b.N {
				r := Read{Table: table, Lookups: lookups(i % (n / same))}
				found := 0
				err := s.Read(b.Context(), &r, func(row *Row) (bool, error) {
					if types.DecodeInt(row.Values[1]) == int32(i%(n/same)) {
						found++
					}
					return true, nil
				})
				if err != nil || found != same {
					b.Fatal(found, err)
				}
			}
			b.ReportMetric(float64(spent.Nanoseconds())/n, "cpu-ns/write")
		})
		closeStore(b, s)
	}
}

// BenchmarkView reads a partition of ten rows of a view, and the first hundred rows of it, over a base of 200,000 rows:
// through the entries of the view, and by making the view's rows from all of the base.
func BenchmarkView(b *testing.B) {
	const n, same = 200_000, 10
	s := open(b, "", Options{})
	defer closeStore(b, s)
	base := newTable(b, "base", "k bigint", "", "v int, w text")
	view := viewOf(base, newTable(b, "byv", "v int", "k bigint", "w text"))
	define(b, s, base, view)
	for i := range n {
		m := NewMutation(base, binary.BigEndian.AppendUint64(nil, uint64(i)))
		m.Row(nil)
		m.Mark(1, Expiry{})
		m.Set(base.Column("v"), types.EncodeInt(int32(i/same)), 1, Expiry{})
		m.Set(base.Column("w"), []byte("some text"), 1, Expiry{})
		if err := apply(s, m); err != nil {
			b.Fatal(err)
		}
	}
	waitForIndexes(b, s)
	read := func(b *testing.B, r Read, most int) {
		found := 0
		err := s.Read(b.Context(), &r, func(*Row) (bool, error) {
			found++
			return found < most, nil
		})
		if err != nil || found != most {
			b.Fatal(found, err)
		}
	}
	all := func(b *testing.B) {
		b.Run("partition", func(b *testing.B) {
			for i := range b.N {
				read(b, Read{Table: view, Keys: [][]byte{types.EncodeInt(int32(i % (n / same)))}}, same)
			}
		})
		b.Run("page", func(b *testing.B) {
			for range b.N {
				read(b, Read{Table: view}, 100)
			}
		})
	}
	b.Run("entries", all)
	b.Run("base", func(b *testing.B) { withoutIndexes(s, func() { all(b) }) })
}
