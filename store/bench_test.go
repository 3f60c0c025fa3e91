package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
)

// benchStore opens a store, in memory or in a folder, that is closed after the benchmark.
func benchStore(b *testing.B, dir string) (*Store, *schema.Table) {
	s, t := openBench(b, dir)
	b.Cleanup(func() { closeStore(b, s) })
	return s, t
}

func openBench(b *testing.B, dir string) (*Store, *schema.Table) {
	s, err := Open(Options{Log: zerolog.Nop(), Engine: func(f engine.Fold) (engine.Engine, error) {
		if dir == "" {
			return memory.Open(f), nil
		}
		needsDisk(b)
		return openDisk(dir, 0, f)
	}})
	if err != nil {
		b.Fatal(err)
	}
	if s.Catalog().Table("ks", "bench") == nil {
		define(b, s, newTable(b, "bench", "k bigint", "c bigint", "v0 blob, v1 blob, v2 blob, v3 blob, v4 blob"))
	}
	return s, s.Catalog().Table("ks", "bench")
}

// benchKey makes 10,000 rows per partition.
func benchKey(k, c []byte, i int) {
	binary.BigEndian.PutUint64(k, uint64(i/10000))
	binary.BigEndian.PutUint64(c, uint64(i%10000))
}

// insertRows keeps 64 inserts in flight.
func insertRows(b *testing.B, s *Store, t *schema.Table, n int) { insertFrom(b, s, t, 0, n) }

// insertFrom inserts n rows behind those that are there: 32 while another 32 are under way.
func insertFrom(b *testing.B, s *Store, t *schema.Table, from, n int) {
	var halves [2]inserts
	for i := range halves {
		halves[i].begin(b)
	}
	end := from + n
	for i := 0; from < end; i++ {
		some := min(len(halves[0].rows), end-from)
		halves[i%2].run(s, t, from, some)
		from += some
	}
	halves[0].wg.Wait()
	halves[1].wg.Wait()
}

// inserts are some that are in flight together.
type inserts struct {
	wg    sync.WaitGroup
	value []byte
	done  func(error)
	rows  [32]struct {
		k, c       [8]byte
		clustering [1][]byte
		ms         [1]*Mutation
	}
}

func (x *inserts) begin(b *testing.B) {
	x.value = bytes.Repeat([]byte("x"), 100)
	x.done = func(err error) {
		if err != nil {
			b.Error(err)
		}
		x.wg.Done()
	}
	for i := range x.rows {
		x.rows[i].clustering[0] = x.rows[i].c[:]
	}
}

// run waits for the inserts before and begins n others.
func (x *inserts) run(s *Store, t *schema.Table, from, n int) {
	x.wg.Wait()
	x.wg.Add(n)
	for i := range n {
		r := &x.rows[i]
		benchKey(r.k[:], r.c[:], from+i)
		m := NewMutation(t, r.k[:])
		m.Row(r.clustering[:])
		m.Mark(int64(from+i+1), Expiry{})
		for _, c := range t.Regular {
			m.Set(c, x.value, int64(from+i+1), Expiry{})
		}
		r.ms[0] = m
		s.Apply(r.ms[:], x.done)
	}
}

func BenchmarkInsert(b *testing.B) {
	s, t := benchStore(b, "")
	b.ReportAllocs()
	b.ResetTimer()
	insertRows(b, s, t, b.N)
}

func BenchmarkGet(b *testing.B) {
	s, t := benchStore(b, "")
	insertRows(b, s, t, 100000)
	getRows(b, s, t, 100000)
}

// BenchmarkGetTables reads rows that were written before the store was opened: of 200,000 either all or
// some that are read again and again.
func BenchmarkGetTables(b *testing.B) {
	const n = 200000
	dir := b.TempDir()
	s, t := openBench(b, dir)
	insertRows(b, s, t, n)
	closeStore(b, s)
	for name, some := range map[string]int{"all": n, "some": n / 20} {
		b.Run(name, func(b *testing.B) {
			s, t := benchStore(b, dir)
			getRows(b, s, t, some)
		})
	}
}

// getRows reads the first n rows in an order that is not theirs.
func getRows(b *testing.B, s *Store, t *schema.Table, n int) {
	var k, c [8]byte
	clustering := [][]byte{c[:]}
	slices := []Slice{{clustering, clustering, true, true}}
	keys := [][]byte{k[:]}
	found := 0
	count := func(*Row) (bool, error) { found++; return true, nil }
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		benchKey(k[:], c[:], i*7919%n)
		if err := s.Read(context.Background(), &Read{Table: t, Keys: keys, Slices: slices}, count); err != nil {
			b.Fatal(err)
		}
	}
	if found != b.N {
		b.Fatalf("%d of %d found", found, b.N)
	}
}

func BenchmarkScan(b *testing.B) {
	s, t := benchStore(b, "")
	insertRows(b, s, t, 100000)
	found := 0
	count := func(*Row) (bool, error) { found++; return found < b.N, nil }
	b.ReportAllocs()
	b.ResetTimer()
	for found < b.N {
		if err := s.Read(context.Background(), &Read{Table: t}, count); err != nil {
			b.Fatal(err)
		}
	}
}
