package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/tombstones"
)

// rangesModel is a partition with rows of the numbers up to rangeRows, whose ranges are deleted as of any time.
type rangesModel struct {
	rows      map[int32]int64 // when a row was written
	deletions []modelDeletion
}

const rangeRows = 400

// modelDeletion deletes the rows from start to before end.
type modelDeletion struct {
	start, end int32
	ts         int64
}

// alive are the rows that no deletion hides, from start to before end.
func (m *rangesModel) alive(start, end int32) (all []int32) {
	for c := start; c < end; c++ {
		ts, ok := m.rows[c]
		hides := func(d modelDeletion) bool { return d.start <= c && c < d.end && ts <= d.ts }
		if ok && !slices.ContainsFunc(m.deletions, hides) {
			all = append(all, c)
		}
	}
	return all
}

// sliceOf is a slice of clustering keys from start to before end.
func sliceOf(start, end int32) Slice {
	return Slice{
		Start: [][]byte{types.EncodeInt(start)}, End: [][]byte{types.EncodeInt(end)}, StartInclusive: true,
	}
}

// numbersOf are the clustering keys that a read gives.
func numbersOf(t *testing.T, s *Store, r *Read) (all []int32) {
	t.Helper()
	r.Now = s.Now().Unix()
	err := s.Read(t.Context(), r, func(row *Row) (bool, error) {
		all = append(all, intOf(row.Values[r.Table.Clustering[0].Index]))
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func intOf(b []byte) int32 { return int32(b[0])<<24 | int32(b[1])<<16 | int32(b[2])<<8 | int32(b[3]) }

// TestOverlappingRanges deletes many ranges that overlap, as of any times, and partitions, writes rows as of any
// times, and sweeps, while reads jump over few removed keys: points, slices in both directions and reads that continue
// in the middle give what a model has.
func TestOverlappingRanges(t *testing.T) {
	for _, grace := range []int{0, 10000} {
		t.Run(fmt.Sprint("grace ", grace), func(t *testing.T) { testOverlappingRanges(t, grace) })
	}
}

func testOverlappingRanges(t *testing.T, grace int) {
	var ahead atomic.Int64
	s := open(t, t.TempDir(), Options{
		SweepEvery: time.Hour, Now: func() time.Time { return time.Unix(1_000_000+ahead.Load(), 0) },
	})
	defer closeStore(t, s)
	s.deletions.LongRun, s.deletions.SlowStart = 4, -1
	spec := *newTable(t, "t", "k int", "c int", "v int")
	spec.Options.GCGraceSeconds = grace
	define(t, s, schema.NewTable(spec))
	table := s.Catalog().Table("ks", "t")
	random := rand.New(rand.NewPCG(uint64(grace), 7))
	models := make([]rangesModel, 3)
	for i := range models {
		models[i].rows = map[int32]int64{}
	}
	change := func(k int, now int64) {
		model, m := &models[k], NewMutation(table, types.EncodeInt(int32(k)))
		m.At(s.Now().Unix())
		ts := now + random.Int64N(50)
		start := random.Int32N(rangeRows)
		switch n := random.IntN(100); {
		case n == 0:
			m.DeletePartition(ts - 60)
			model.deletions = append(model.deletions, modelDeletion{0, rangeRows, ts - 60})
		case n < 60:
			end := min(rangeRows, start+1+random.Int32N(1+random.Int32N(rangeRows/4)))
			m.DeleteRange(sliceOf(start, end), ts)
			model.deletions = append(model.deletions, modelDeletion{start, end, ts})
		default:
			m.Row([][]byte{types.EncodeInt(start)})
			m.Mark(ts, Expiry{})
			m.Set(table.Regular[0], types.EncodeInt(1), ts, Expiry{})
			model.rows[start] = max(model.rows[start], ts)
		}
		if err := apply(s, m); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	for round := range 48 {
		for k := range models {
			for range random.IntN(40) {
				change(k, int64(round+round/12*1000)) // behind all that a sweep may have purged
			}
		}
		if round%12 == 11 {
			ahead.Add(5)
			if err := s.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for k := range models {
			for range 2 { // the second time of what the first one has kept
				checkRanges(t, s, table, k, &models[k], random)
			}
		}
		kept = max(kept, s.deletions.KeptPartitions())
	}
	eventually(t, "an empty range", func() bool {
		change(0, 50_000)
		checkRanges(t, s, table, 0, &models[0], random)
		return len(s.deletions.EmptyRanges()) > 0
	})
	if kept != len(models) {
		t.Errorf("the ranges of %d partitions were kept", kept)
	}
}

// checkRanges reads a partition in all ways.
func checkRanges(t *testing.T, s *Store, table *schema.Table, k int, model *rangesModel, random *rand.Rand) {
	t.Helper()
	key := types.EncodeInt(int32(k))
	read := func() *Read { return &Read{Table: table, Keys: [][]byte{key}} }
	expect := func(what string, r *Read, want []int32) {
		t.Helper()
		if got := numbersOf(t, s, r); !slices.Equal(got, want) {
			t.Fatalf("partition %d, %s: %v, want %v", k, what, got, want)
		}
	}
	all := model.alive(0, rangeRows)
	expect("all", read(), all)
	start := random.Int32N(rangeRows)
	end := start + 1 + random.Int32N(rangeRows-start)
	r := read()
	r.Slices = []Slice{sliceOf(start, end)}
	some := model.alive(start, end)
	expect(fmt.Sprint("from ", start, " to ", end), r, some)
	if len(some) > 0 {
		at := random.IntN(len(some))
		r.After = &Position{Partition: key, Clustering: [][]byte{types.EncodeInt(some[at])}}
		expect(fmt.Sprint("behind ", some[at], " to ", end), r, some[at+1:])
		r.Reverse = true
		before := slices.Clone(some[:at])
		slices.Reverse(before)
		expect(fmt.Sprint("back from ", some[at], " to ", start), r, before)
	}
	point := random.Int32N(rangeRows)
	r = read()
	whole := [][]byte{types.EncodeInt(point)}
	r.Slices = []Slice{{Start: whole, End: whole, StartInclusive: true, EndInclusive: true}}
	expect(fmt.Sprint("row ", point), r, model.alive(point, point+1))
}

// TestKeptRangesAndSnapshots deletes a range and writes its row again in one commit, while others read the row: they
// always find it, with what is kept and without.
func TestKeptRangesAndSnapshots(t *testing.T) {
	s := open(t, "", Options{SweepEvery: time.Hour})
	defer closeStore(t, s)
	define(t, s, newTable(t, "t", "k int", "c int", "v int"))
	table := s.Catalog().Table("ks", "t")
	replace := func() *Mutation {
		m := NewMutation(table, types.EncodeInt(1))
		m.At(s.Now().Unix())
		ts := s.Timestamp()
		m.DeleteRange(sliceOf(0, 2), ts)
		m.Row([][]byte{types.EncodeInt(1)})
		m.Mark(ts+1, Expiry{})
		m.Set(table.Regular[0], types.EncodeInt(1), ts+1, Expiry{})
		return m
	}
	first := replace()
	for i := range int32(2 * tombstones.WorthKeeping) {
		first.DeleteRange(sliceOf(10+2*i, 11+2*i), s.Timestamp())
	}
	if err := apply(s, first); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var reading sync.WaitGroup
	for range 4 {
		reading.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				n := 0
				r := &Read{Table: table, Keys: [][]byte{types.EncodeInt(1)}, Now: s.Now().Unix()}
				err := s.Read(t.Context(), r, func(*Row) (bool, error) { n++; return true, nil })
				if n != 1 || err != nil {
					t.Errorf("%d rows, %v", n, err)
					return
				}
			}
		})
	}
	for range 300 {
		if err := apply(s, replace()); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	reading.Wait()
}

// BenchmarkManyRanges reads a row of a partition with many range tombstones elsewhere.
func BenchmarkManyRanges(b *testing.B) {
	for _, ranges := range []int32{100, 20_000} {
		b.Run(fmt.Sprint(ranges), func(b *testing.B) {
			s := open(b, "", Options{SweepEvery: time.Hour})
			defer closeStore(b, s)
			define(b, s, newTable(b, "t", "k int", "c int", "v int"))
			table := s.Catalog().Table("ks", "t")
			m := NewMutation(table, types.EncodeInt(1))
			m.At(s.Now().Unix())
			for i := range ranges {
				m.DeleteRange(sliceOf(10*i+1, 10*i+5), s.Timestamp())
			}
			m.Row([][]byte{types.EncodeInt(0)})
			m.Mark(s.Timestamp(), Expiry{})
			if err := apply(s, m); err != nil {
				b.Fatal(err)
			}
			row := [][]byte{types.EncodeInt(0)}
			r := &Read{
				Table: table, Keys: [][]byte{types.EncodeInt(1)}, Now: s.Now().Unix(),
				Slices: []Slice{{Start: row, End: row, StartInclusive: true, EndInclusive: true}},
			}
			b.ResetTimer()
			for range b.N {
				n := 0
				if err := s.Read(b.Context(), r, func(*Row) (bool, error) { n++; return true, nil }); err != nil || n != 1 {
					b.Fatal(n, err)
				}
			}
		})
	}
}
