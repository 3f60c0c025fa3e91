package store_test

import (
	"flag"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store"
)

var benchTables = flag.Int("tables", 2000, "the tables of BenchmarkDefinitions")

// BenchmarkDefinitions measures definitions where there are many tables in one keyspace on disk: how long one takes,
// how long the folder takes to open, and what the definitions weigh in memory.
func BenchmarkDefinitions(b *testing.B) {
	dir := b.TempDir()
	before := heapInUse()
	s, err := tryOpen(b, dir, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; i < *benchTables; i += 500 {
		var tables []*schema.Table
		for j := i; j < min(i+500, *benchTables); j++ {
			tables = append(tables, benchTable(b, j))
		}
		define(b, s, tables...)
	}
	weight := heapInUse() - before
	const times = 50
	measure := func(name string, change func(c *schema.Catalog, i int) *schema.Catalog) {
		began := time.Now()
		for i := range times {
			if err := s.Define(func(c *schema.Catalog) (*schema.Catalog, error) { return change(c, i), nil }); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(time.Since(began).Microseconds())/1000/times, name)
	}
	measure("create-ms", func(c *schema.Catalog, i int) *schema.Catalog {
		return c.WithTable(benchTable(b,
			*benchTables+i))
	})
	measure("truncate-ms", func(c *schema.Catalog, i int) *schema.Catalog {
		return c.WithTable(c.Table("ks", benchTable(b, i).Name).WithStoreID(0))
	})
	measure("drop-ms", func(c *schema.Catalog, i int) *schema.Catalog {
		return c.WithoutTable("ks",
			benchTable(b, i).Name)
	})
	closeStore(b, s)
	began := time.Now()
	s = open(b, dir, store.Options{})
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "open-ms")
	if n := len(s.Catalog().Keyspace("ks").Tables); n != *benchTables {
		b.Errorf("%d tables", n)
	}
	closeStore(b, s)
	b.ReportMetric(float64(weight)/float64(*benchTables), "heap-bytes/table")
	b.ReportMetric(0, "ns/op")
}

// benchTable is one of many tables with ten columns.
func benchTable(b *testing.B, i int) *schema.Table {
	b.Helper()
	t := *newTable(b, fmt.Sprintf("%06d_table", i), "k int", "c timestamp desc, d text",
		"a text, b int, e double, s text static, m map<text:int>, l list<int>, st set<text>")
	t.Options = schema.DefaultTableOptions()
	return schema.NewTable(t)
}

// heapInUse is what is in use.
func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
