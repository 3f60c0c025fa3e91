package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
)

var purging = flag.Duration("purging", time.Minute,
	"how long BenchmarkPurge lets sweeps, reads and writes run together")

// BenchmarkPurge writes rows that live for half a minute into a table of many on disk, and reads others, as many of
// both each second. It does so first without sweeps and then with one after the other, and reports how long 99 of 100
// reads took at most, and the size of the folder after a quarter of the time, after half of it and at the end.
func BenchmarkPurge(b *testing.B) {
	dir := b.TempDir()
	s, t := openSweeping(b, dir, 24*time.Hour)
	fillPartitions(b, s, t, *growthRows)
	quiet := steadily(b, s, t, *purging/5, nil)
	closeStore(b, s)

	s, t = openSweeping(b, dir, time.Second)
	defer closeStore(b, s)
	var sizes []int64
	busy := steadily(b, s, t, *purging, func() { sizes = append(sizes, folderSize(b, dir)) })
	m := s.SweepMetrics()
	b.ReportMetric(float64(quiet.Nanoseconds()), "p99-quiet-ns")
	b.ReportMetric(float64(busy.Nanoseconds()), "p99-purging-ns")
	b.ReportMetric(float64(busy)/float64(quiet), "times-quiet")
	b.ReportMetric(float64(sizes[len(sizes)/4])/(1<<20), "MiB-quarter")
	b.ReportMetric(float64(sizes[len(sizes)/2])/(1<<20), "MiB-half")
	b.ReportMetric(float64(slices.Max(sizes[len(sizes)/4:]))/(1<<20), "MiB-most")
	b.ReportMetric(float64(sizes[len(sizes)-1])/(1<<20), "MiB-end")
	b.ReportMetric(float64(m.Sweeps), "sweeps")
	b.ReportMetric(float64(m.Removed), "removed")
	b.ReportMetric(0, "ns/op")
}

func openSweeping(b *testing.B, dir string, every time.Duration) (*Store, *schema.Table) {
	b.Helper()
	needsDisk(b)
	s, err := Open(Options{Log: zerolog.Nop(), SweepEvery: every, Engine: func(f engine.Fold) (engine.Engine, error) {
		return openDisk(dir, 0, f)
	}})
	if err != nil {
		b.Fatal(err)
	}
	if s.Catalog().Table("ks", "bench") == nil {
		t := *newTable(b, "bench", "k bigint", "c bigint", "v blob")
		t.Options.GCGraceSeconds = 0
		define(b, s, schema.NewTable(t))
	}
	return s, s.Catalog().Table("ks", "bench")
}

// partitionRows is how many rows a partition of the table has.
const partitionRows = 1000

func rowKey(i int) (key, clustering []byte) {
	return binary.BigEndian.AppendUint64(nil, uint64(i/partitionRows)),
		binary.BigEndian.AppendUint64(nil, uint64(i%partitionRows))
}

func fillPartitions(b *testing.B, s *Store, t *schema.Table, n int) {
	b.Helper()
	value := bytes.Repeat([]byte("v"), 64)
	for i := 0; i < n; i += partitionRows {
		key, _ := rowKey(i)
		m := NewMutation(t, key)
		for j := i; j < min(i+partitionRows, n); j++ {
			_, clustering := rowKey(j)
			m.Row([][]byte{clustering})
			m.Mark(s.Timestamp(), Expiry{})
			m.Set(t.Regular[0], value, s.Timestamp(), Expiry{})
		}
		if err := apply(s, m); err != nil {
			b.Fatal(err)
		}
	}
}

// steadily reads a row and writes one each half millisecond, and returns what 99 of 100 reads took at most. now and
// then it calls measure.
func steadily(b *testing.B, s *Store, t *schema.Table, long time.Duration, measure func()) time.Duration {
	b.Helper()
	began := time.Now()
	var group sync.WaitGroup
	every := func(step time.Duration, fn func() error) {
		group.Go(func() {
			for next := began; next.Sub(began) < long; next = next.Add(step) {
				time.Sleep(time.Until(next))
				if err := fn(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	var taken []time.Duration
	reading, writing := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(2, 2))
	every(time.Millisecond/2, func() error {
		key, clustering := rowKey(reading.IntN(*growthRows))
		at := time.Now()
		found := false
		read := Read{Table: t, Keys: [][]byte{key}, Slices: []Slice{{
			[][]byte{clustering},
			[][]byte{clustering},
			true,
			true,
		}}, Now: at.Unix()}
		err := s.Read(context.Background(), &read, func(*Row) (bool, error) { found = true; return true, nil })
		taken = append(taken, time.Since(at))
		if !found {
			b.Error("a row is not there")
		}
		return err
	})
	value := bytes.Repeat([]byte("t"), 64)
	every(time.Millisecond/2, func() error {
		const ttl = 30
		e := Expiry{TTL: ttl, At: s.Now().Unix() + ttl}
		key, _ := rowKey(writing.IntN(*growthRows))
		m := NewMutation(t, key)
		m.Row([][]byte{binary.BigEndian.AppendUint64(nil, partitionRows+writing.Uint64()>>2)})
		m.Mark(s.Timestamp(), e)
		m.Set(t.Regular[0], value, s.Timestamp(), e)
		return apply(s, m)
	})
	if measure != nil {
		every(max(long/60, 100*time.Millisecond), func() error { measure(); return nil })
	}
	group.Wait()
	slices.Sort(taken)
	return taken[len(taken)*99/100]
}

func folderSize(b *testing.B, dir string) (size int64) {
	b.Helper()
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // a file that is gone by the time
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			size += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return nil
	})
	return size
}
