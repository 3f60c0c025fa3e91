package rows

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
		ranges := make([]RangeTombstone, 2+r.IntN(8))
		for i := range ranges {
			start := byte(r.IntN(12))
			ranges[i] = RangeTombstone{
				[]byte{start},
				[]byte{start + 1 + byte(r.IntN(6))},
				Tombstone{int64(r.IntN(4)), int64(r.IntN(2))},
			}
		}
		slices.SortFunc(ranges, func(a, b RangeTombstone) int { return bytes.Compare(a.Start, b.Start) })
		d := PartitionTombstones{Any: true, Partition: NoTombstone, Ranges: CutRanges(slices.Clone(ranges))}
		for place := range byte(20) {
			want := NoTombstone
			for _, g := range ranges {
				if g.Start[0] <= place && place < g.End[0] {
					want = want.Later(g.Tombstone)
				}
			}
			if got := d.Over([]byte{place}); got != want {
				t.Fatalf("%v: at %d it is %v, want %v", ranges, place, got, want)
			}
		}
		for i := range d.Ranges[1:] {
			if a, b := d.Ranges[i], d.Ranges[i+1]; bytes.Compare(a.End, b.Start) > 0 || a.Tombstone == b.Tombstone &&
				bytes.Equal(a.End, b.Start) {
				t.Fatalf("%v is cut to %v", ranges, d.Ranges)
			}
		}
	}
}

// TestNeeds asks whether a range is needed beside the tombstone of its partition: not if that reaches as far and is
// kept as long.
func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		partition, rows Tombstone
		needed          bool
	}{
		{Tombstone{5, 100}, Tombstone{4, 100}, false},
		{Tombstone{5, 100}, Tombstone{4, 200}, false},
		{Tombstone{5, 100}, Tombstone{5, 100}, false},
		{Tombstone{5, 100}, Tombstone{5, 99}, false},
		{Tombstone{5, 100}, Tombstone{5, 101}, true},
		{Tombstone{5, 100}, Tombstone{6, 1}, true},
	} {
		from, to := []byte("a"), []byte("b")
		d := PartitionTombstones{Any: true, Partition: c.partition, Ranges: []RangeTombstone{{from, to, c.rows}}}
		if got := d.Needs(from, to, c.rows); got != c.needed {
			t.Errorf("%v under %v: %t", c.rows, c.partition, got)
		}
	}
}
