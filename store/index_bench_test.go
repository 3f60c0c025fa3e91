package store

import (
	"encoding/binary"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/index"
)

// benchGroup is how many rows of the tables of these benchmarks have the same value of v.
const benchGroup = 10

var indexMemory = flag.Bool("index-memory", false, "BenchmarkIndexedReads has its tables in memory, not in a folder")

// benchDir is the folder of a store; empty: it is in memory.
func benchDir(b *testing.B, memory bool) string {
	if memory {
		return ""
	}
	return b.TempDir()
}

// placeName says where a store is.
func placeName(memory bool) string {
	if memory {
		return "in memory"
	}
	return "on disk"
}

// indexBench is a store with a table whose columns can be indexed.
type indexBench struct {
	*testing.B
	*Store
	table, view *schema.Table
}

// openIndexBench opens a store in a folder, or in memory without one. The columns that are named have an index each; a
// view by v is there if it is wanted.
func openIndexBench(b *testing.B, dir string, withView bool, indexed ...string) *indexBench {
	s, _ := openBench(b, dir)
	spec := *newTable(b, "base", "k bigint", "", "v int, w text, x int")
	for _, column := range indexed {
		spec.Indexes = append(spec.Indexes, &schema.Index{Name: column, Targets: []schema.IndexTarget{{Column: column}}})
	}
	x := &indexBench{B: b, Store: s, table: schema.NewTable(spec)}
	if !withView {
		define(b, s, x.table)
	} else {
		x.view = viewOf(x.table, newTable(b, "byv", "v int", "k bigint", "w text, x int"))
		define(b, s, x.table, x.view)
	}
	waitForIndexes(b, s)
	x.table = s.Catalog().Table("ks", "base")
	return x
}

// insert writes rows into a table whose key is that of the base or of the view, 64 at a time.
func (x *indexBench) insert(t *schema.Table, from, n int) {
	var wg sync.WaitGroup
	done := func(err error) {
		if err != nil {
			x.Error(err)
		}
		wg.Done()
	}
	for i := from; i < from+n; i++ {
		k, v := binary.BigEndian.AppendUint64(nil, uint64(i)), types.EncodeInt(int32(i/benchGroup))
		var m *Mutation
		if len(t.Clustering) > 0 {
			m = NewMutation(t, v)
			m.Row([][]byte{k})
		} else {
			m = NewMutation(t, k)
			m.Row(nil)
			m.Set(t.Column("v"), v, 1, Expiry{})
		}
		m.Mark(1, Expiry{})
		m.Set(t.Column("w"), fmt.Appendf(nil, "some text %d", i), 1, Expiry{})
		m.Set(t.Column("x"), types.EncodeInt(int32(i%1000)), 1, Expiry{})
		wg.Add(1)
		x.Apply([]*Mutation{m}, done)
		if i%64 == 63 {
			wg.Wait()
		}
	}
	wg.Wait()
}

// read reads rows until there are as many as wanted.
func (x *indexBench) read(r *Read, want int) {
	found := 0
	err := x.Read(x.Context(), r, func(*Row) (bool, error) {
		found++
		return found < want, nil
	})
	if err != nil || found != want {
		x.Fatalf("%d rows, want %d (%v)", found, want, err)
	}
}

// quickest is the processor time of the quickest of many calls of fn.
func quickest(calls int, fn func(i int)) time.Duration {
	all := make([]time.Duration, 20)
	for round := range all {
		all[round] = processorTime(func() {
			for i := range calls {
				fn(round*calls + i)
			}
		}) / time.Duration(calls)
	}
	return slices.Min(all)
}

// BenchmarkIndexedWrites inserts rows into a table without indexes, with one and with three, and with a view, in
// memory and on disk. Closing the store counts, so that what is done in the background does.
func BenchmarkIndexedWrites(b *testing.B) {
	const n = 200_000
	for _, kept := range []struct {
		name    string
		view    bool
		columns []string
	}{
		{name: "none"},
		{name: "one index", columns: []string{"v"}},
		{name: "three indexes", columns: []string{"v", "w", "x"}},
		{name: "a view", view: true},
	} {
		for _, memory := range []bool{true, false} {
			b.Run(kept.name+" "+placeName(memory), func(b *testing.B) {
				var spent time.Duration
				for range b.N {
					x := openIndexBench(b, benchDir(b, memory), kept.view, kept.columns...)
					spent += processorTime(func() {
						x.insert(x.table, 0, n)
						closeStore(b, x.Store)
					})
				}
				b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N*n), "cpu-ns/write")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkIndexedReads reads the ten rows of a value through an index, in tables of more and more rows.
func BenchmarkIndexedReads(b *testing.B) {
	for rows := 10_000; rows <= *growthRows; rows *= 10 {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			x := openIndexBench(b, benchDir(b, *indexMemory), false, "v")
			defer closeStore(b, x.Store)
			x.insert(x.table, 0, rows)
			settle()
			r := Read{Table: x.table, Lookups: []index.Lookup{{Index: x.table.Indexes[0]}}}
			took := quickest(50, func(i int) {
				r.Lookups[0].Value = types.EncodeInt(int32(i * 7919 % (rows / benchGroup)))
				x.read(&r, benchGroup)
			})
			b.ReportMetric(float64(took.Nanoseconds()), "cpu-ns/read")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkViewPage reads the first 100 rows behind some token of a view of a base of 300,000 rows, and of a table
// that has the same rows.
func BenchmarkViewPage(b *testing.B) {
	const n, page = 300_000, 100
	x := openIndexBench(b, b.TempDir(), true)
	defer closeStore(b, x.Store)
	same := newTable(b, "same", "v int", "k bigint", "w text, x int")
	define(b, x.Store, same)
	const atOnce = 10_000 // of each, so that as much of one as of the other is still in memory
	for from := 0; from < n; from += atOnce {
		x.insert(x.table, from, atOnce)
		x.insert(same, from, atOnce)
	}
	settle()
	for _, t := range []*schema.Table{same, x.view} {
		b.Run(t.Name, func(b *testing.B) {
			took := quickest(500, func(i int) {
				from := int64(i*7919%1000-500) << 52
				x.read(&Read{Table: t, Tokens: TokenRange{Bounded: true, Start: from, End: 1<<63 - 1}}, page)
			})
			b.ReportMetric(float64(took.Nanoseconds()), "cpu-ns/page")
			b.ReportMetric(0, "ns/op")
		})
	}
}
