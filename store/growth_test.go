package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
)

var growthRows = flag.Int("rows", 1_000_000, "the most rows of BenchmarkGrowth")

// BenchmarkGrowth measures the same operations in tables of more and more rows on disk, all of them in one partition,
// and how long such a table takes to open. Times are of the processor, also for what Badger does in the background.
func BenchmarkGrowth(b *testing.B) {
	for rows := 1000; rows <= *growthRows; rows *= 10 {
		if rows == 100_000 {
			continue
		}
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			dir := b.TempDir()
			s, t := openBench(b, dir)
			fillGrowth(b, s, t, 0, rows)
			closeStore(b, s)
			began := time.Now()
			s, t = openBench(b, dir)
			b.ReportMetric(float64(time.Since(began).Milliseconds()), "open-ms")
			defer closeStore(b, s)
			settle()
			const inserts = 20000
			report := func(name string, n int, fn func()) {
				fn() // once to warm up
				b.ReportMetric(float64(processorTime(fn).Nanoseconds())/float64(n), name)
			}
			gets := min(20000, rows/2)
			next := 0 // what was read once is kept in memory, so no row is got twice
			report("get-ns", gets, func() { growthReads(b, s, t, rows, next, gets, 1, false); next += gets })
			slices := 500
			for name, reverse := range map[string]bool{"slice100-ns": false, "reversed100-ns": true} {
				report(name, slices, func() { growthReads(b, s, t, rows, next, slices, 100, reverse); next += slices })
			}
			at := rows
			report("insert-ns", inserts, func() { fillGrowth(b, s, t, at, inserts); at += inserts })
			b.ReportMetric(0, "ns/op")
		})
	}
}

// settle waits until what Badger does in the background after a folder is opened is done, for a minute at most.
func settle() {
	for range 300 {
		before := spent()
		time.Sleep(200 * time.Millisecond)
		if spent()-before < 4*time.Millisecond {
			return
		}
	}
}

// fillGrowth inserts rows behind those that are there.
func fillGrowth(b *testing.B, s *Store, t *schema.Table, from, n int) {
	b.Helper()
	value := bytes.Repeat([]byte("v"), 64)
	key := make([]byte, 8)
	for i := from; i < from+n; i += 500 {
		m := NewMutation(t, key)
		for j := i; j < min(i+500, from+n); j++ {
			m.Row([][]byte{binary.BigEndian.AppendUint64(nil, uint64(j))})
			m.Mark(int64(j), Expiry{})
			m.Set(t.Regular[0], value, int64(j), Expiry{})
		}
		if err := apply(s, m); err != nil {
			b.Fatal(err)
		}
	}
}

// growthReads reads n slices of so many rows in the middle of the partition, here and there: those from first on, of
// an order in which each row comes once.
func growthReads(b *testing.B, s *Store, t *schema.Table, rows, first, n, length int, reverse bool) {
	b.Helper()
	key := make([]byte, 8)
	found := 0
	for i := range n {
		at := min((first+i)*7919%rows, rows-length)
		from := binary.BigEndian.AppendUint64(nil, uint64(at))
		to := binary.BigEndian.AppendUint64(nil, uint64(at+length-1))
		read := Read{
			Table: t, Keys: [][]byte{key}, Slices: []Slice{{[][]byte{from}, [][]byte{to}, true, true}},
			Reverse: reverse,
		}
		if err := s.Read(context.Background(), &read, func(*Row) (bool, error) { found++; return true, nil }); err != nil {
			b.Fatal(err)
		}
	}
	checkFound(b, found, n*length)
}
