package store

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFurthest cuts random ranges and asks of every place which tombstone is over it.
func TestFurthest(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 5000 {
		ranges := make([]rangeDeletion, 2+r.IntN(8))
		for i := range ranges {
			start := byte(r.IntN(12))
			ranges[i] = rangeDeletion{[]byte{start}, []byte{start + 1 + byte(r.IntN(6))}, tombstone{int64(r.IntN(4)), int64(r.IntN(2))}}
		}
		slices.SortFunc(ranges, func(a, b rangeDeletion) int { return bytes.Compare(a.start, b.start) })
		d := deletions{some: true, partition: noTombstone, ranges: furthest(slices.Clone(ranges))}
		for place := range byte(20) {
			want := noTombstone
			for _, g := range ranges {
				if g.start[0] <= place && place < g.end[0] {
					want = want.max(g.tombstone)
				}
			}
			if got := d.tombstoneOf([]byte{place}); got != want {
				t.Fatalf("%v: at %d it is %v, want %v", ranges, place, got, want)
			}
		}
		for i := range d.ranges[1:] {
			if a, b := d.ranges[i], d.ranges[i+1]; bytes.Compare(a.end, b.start) > 0 || a.tombstone == b.tombstone && bytes.Equal(a.end, b.start) {
				t.Fatalf("%v is cut to %v", ranges, d.ranges)
			}
		}
	}
}

// TestNeeds asks whether a range is needed beside the tombstone of its partition: not if that reaches as far and is kept
// as long.
func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		partition, rows tombstone
		needed          bool
	}{
		{tombstone{5, 100}, tombstone{4, 100}, false},
		{tombstone{5, 100}, tombstone{4, 200}, false},
		{tombstone{5, 100}, tombstone{5, 100}, false},
		{tombstone{5, 100}, tombstone{5, 99}, false},
		{tombstone{5, 100}, tombstone{5, 101}, true},
		{tombstone{5, 100}, tombstone{6, 1}, true},
	} {
		from, to := []byte("a"), []byte("b")
		d := deletions{some: true, partition: c.partition, ranges: []rangeDeletion{{from, to, c.rows}}}
		if got := d.needs(from, to, c.rows); got != c.needed {
			t.Errorf("%v under %v: %t", c.rows, c.partition, got)
		}
	}
}
