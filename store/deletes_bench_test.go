package store

import (
	"context"
	"encoding/binary"
	"flag"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine/enginetest"
)

var deletedPartitions = flag.Int("deleted", 50_000, "how many partitions BenchmarkDeleted deletes")

// BenchmarkDeleted deletes partitions of one row each and reports what that costs afterwards: a scan of 400,000 other
// rows, point reads of keys that were written again, memory before and after a sweep, and opening a folder whose
// process was killed.
func BenchmarkDeleted(b *testing.B) {
	const live = 400_000
	n := *deletedPartitions
	b.Run("scan", func(b *testing.B) {
		s, t := openDeleted(b, b.TempDir())
		defer closeStore(b, s)
		writePartitions(b, s, t, 0, live)
		b.ReportMetric(float64(countRows(b, s, t, live).Milliseconds()), "cpu-before-ms")
		deletePartitions(b, s, t, live, n)
		b.ReportMetric(float64(countRows(b, s, t, live).Milliseconds()), "cpu-ms")
		b.ReportMetric(0, "ns/op")
	})
	b.Run("get", func(b *testing.B) {
		s, t := openDeleted(b, b.TempDir())
		defer closeStore(b, s)
		deletePartitions(b, s, t, 0, n)
		writePartitions(b, s, t, 0, 2*n)
		const gets = 20_000
		for name, from := range map[string]int{"rewritten-ns": 0, "others-ns": n} {
			for range 5 { // what is read again and again is kept in memory
				spent := processorTime(func() { getPartitions(b, s, t, from, min(n, gets)) })
				b.ReportMetric(float64(spent.Nanoseconds())/float64(min(n, gets)), name)
			}
		}
		b.ReportMetric(0, "ns/op")
	})
	b.Run("memory", func(b *testing.B) {
		s, t := openDeleted(b, b.TempDir())
		defer closeStore(b, s)
		before := liveHeap()
		deletePartitions(b, s, t, 0, n)
		b.ReportMetric(float64(liveHeap()-before)/(1<<20), "MiB")
		time.Sleep(2100 * time.Millisecond) // gc_grace_seconds are 0
		if err := s.Sweep(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(liveHeap()-before)/(1<<20), "MiB-swept")
		b.ReportMetric(0, "ns/op")
	})
	b.Run("open", func(b *testing.B) {
		dir, killed := b.TempDir(), b.TempDir()
		s, t := openDeleted(b, dir)
		deletePartitions(b, s, t, 0, n)
		enginetest.CopyFolder(b, dir, killed)
		closeStore(b, s)
		began := time.Now()
		s, _ = openDeleted(b, killed)
		b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms")
		closeStore(b, s)
		b.ReportMetric(0, "ns/op")
	})
}

// BenchmarkAppend appends elements to a list one by one.
func BenchmarkAppend(b *testing.B) {
	const n = 20_000
	s := open(b, "", Options{})
	defer closeStore(b, s)
	define(b, s, newTable(b, "lists", "k int", "", "l list<text>"))
	t := s.Catalog().Table("ks", "lists")
	var before, after runtime.MemStats
	for range b.N {
		runtime.ReadMemStats(&before)
		began := time.Now()
		for i := range n {
			m := NewMutation(t, []byte{0, 0, 0, 1})
			m.Row(nil)
			m.SetPart(t.Column("l"), AppendPlace(nil, int64(i), uint64(i)), []byte("x"), s.Timestamp(), Expiry{})
			if err := apply(s, m); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(time.Since(began).Microseconds())/n, "µs/append")
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/n, "B/append")
		b.ReportMetric(float64(after.Sys)/(1<<20), "MiB-sys")
		b.ReportMetric(0, "ns/op")
	}
}

// openDeleted opens a store with a table of partitions that have one row and whose tombstones need not be kept.
func openDeleted(b *testing.B, dir string) (*Store, *schema.Table) {
	b.Helper()
	s, _ := openSweeping(b, dir, time.Hour)
	if s.Catalog().Table("ks", "one") == nil {
		define(b, s, newTable(b, "one", "k bigint", "", "v text"))
	}
	return s, s.Catalog().Table("ks", "one")
}

// eachPartition applies a mutation to each of n partitions, 500 at a time.
func eachPartition(b *testing.B, s *Store, t *schema.Table, from, n int, change func(*Mutation)) {
	b.Helper()
	for i := from; i < from+n; i += 500 {
		var ms []*Mutation
		for j := i; j < min(i+500, from+n); j++ {
			m := NewMutation(t, binary.BigEndian.AppendUint64(nil, uint64(j)))
			m.At(s.Now().Unix())
			change(m)
			ms = append(ms, m)
		}
		if err := apply(s, ms...); err != nil {
			b.Fatal(err)
		}
	}
}

func writePartitions(b *testing.B, s *Store, t *schema.Table, from, n int) {
	b.Helper()
	eachPartition(b, s, t, from, n, func(m *Mutation) {
		m.Row(nil)
		m.Mark(s.Timestamp(), Expiry{})
		m.Set(t.Regular[0], []byte("value"), s.Timestamp(), Expiry{})
	})
}

func deletePartitions(b *testing.B, s *Store, t *schema.Table, from, n int) {
	b.Helper()
	writePartitions(b, s, t, from, n)
	eachPartition(b, s, t, from, n, func(m *Mutation) { m.DeletePartition(s.Timestamp()) })
}

// countRows reads all rows as count(*) does and returns how much processor time it took.
func countRows(b *testing.B, s *Store, t *schema.Table, want int) time.Duration {
	b.Helper()
	found := 0
	read := Read{Table: t, Now: s.Now().Unix(), Tombstones: &TombstonesRead{Max: math.MaxInt}}
	spent := processorTime(func() {
		if err := s.Read(context.Background(), &read, func(*Row) (bool, error) { found++; return true, nil }); err != nil {
			b.Fatal(err)
		}
	})
	checkFound(b, found, want)
	return spent
}

// getPartitions reads n partitions one by one.
func getPartitions(b *testing.B, s *Store, t *schema.Table, from, n int) {
	b.Helper()
	found := 0
	key := make([]byte, 8)
	read := Read{Table: t, Keys: [][]byte{key}, Now: s.Now().Unix()}
	for i := range n {
		binary.BigEndian.PutUint64(key, uint64(from+i))
		if err := s.Read(context.Background(), &read, func(*Row) (bool, error) { found++; return true, nil }); err != nil {
			b.Fatal(err)
		}
	}
	checkFound(b, found, n)
}

// liveHeap is what lives.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
