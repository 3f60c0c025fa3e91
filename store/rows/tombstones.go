package rows

import (
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"slices"
)

// ErrTombstone is the error for a value that is no tombstone of the store.
var ErrTombstone = errors.New("a stored tombstone is damaged")

// Tombstone shadows all writes up to a timestamp. gc_grace_seconds count from the second it was written.
type Tombstone struct {
	Timestamp int64
	Second    int64 // since 1970; 0: not known
}

// NoTombstone shadows nothing.
var NoTombstone = Tombstone{Timestamp: NoTimestamp}

// Later returns the tombstone that hides more: the one with the later timestamp, then the later second.
func (t Tombstone) Later(o Tombstone) Tombstone {
	if t.Timestamp > o.Timestamp || t.Timestamp == o.Timestamp && t.Second > o.Second {
		return t
	}
	return o
}

// Append appends the tombstone as the value of a key.
func (t Tombstone) Append(dst []byte) []byte {
	dst = binary.AppendVarint(dst, t.Timestamp)
	if t.Second != 0 {
		dst = binary.AppendUvarint(dst, uint64(t.Second))
	}
	return dst
}

// ReadTombstone reads the value that Append wrote.
func ReadTombstone(value []byte) (Tombstone, error) {
	ts, n := binary.Varint(value)
	if n <= 0 || ts == NoTimestamp {
		return NoTombstone, ErrTombstone
	}
	t, rest := Tombstone{Timestamp: ts}, value[n:]
	if len(rest) > 0 {
		second, n := binary.Uvarint(rest)
		if n != len(rest) {
			return NoTombstone, ErrTombstone
		}
		t.Second = int64(second)
	}
	return t, nil
}

// PartitionTombstones are the tombstones of a partition and of ranges of its rows. The zero value has none.
type PartitionTombstones struct {
	Any       bool
	Partition Tombstone
	Ranges    []RangeTombstone // in order, not overlapping
	Stored    []RangeTombstone // in order, as they are stored
}

// RangeTombstone hides the rows whose positions are in [Start, End). A position is a row's key from its kind on.
type RangeTombstone struct {
	Start, End []byte
	Tombstone
}

// Reset removes all tombstones.
func (d *PartitionTombstones) Reset() {
	d.Any, d.Partition, d.Stored = false, NoTombstone, d.Stored[:0]
	d.Ranges = nil
}

// Add adds a tombstone as it is stored; one without bounds is of the whole partition. CutRanges is called after the
// last one.
func (d *PartitionTombstones) Add(bounds, value []byte) error {
	t, err := ReadTombstone(value)
	if err != nil {
		return err
	}
	d.Any = true
	if len(bounds) == 0 {
		d.Partition = t
		return nil
	}
	start, rest, err := SplitEscaped(nil, bounds)
	if err != nil {
		return err
	}
	d.Stored = append(d.Stored, RangeTombstone{start, bytes.Clone(rest), t})
	return nil
}

// CutRanges makes Ranges of Stored.
func (d *PartitionTombstones) CutRanges() {
	d.Ranges = d.Stored
	if len(d.Stored) > 1 {
		d.Ranges = CutRanges(d.Stored)
	}
}

// Needs reports whether a range hides anything that no other tombstone of the partition hides.
func (d *PartitionTombstones) Needs(start, end []byte, t Tombstone) bool {
	if d.Partition.Later(t) == d.Partition {
		return false
	}
	for i := range d.Ranges {
		r := &d.Ranges[i]
		if r.Tombstone == t && bytes.Compare(start, r.End) < 0 && bytes.Compare(r.Start, end) < 0 {
			return true
		}
	}
	return false
}

// TimestampOver returns the timestamp up to which the row at a position is deleted.
func (d *PartitionTombstones) TimestampOver(position []byte) int64 { return d.Over(position).Timestamp }

// Over returns the furthest-reaching tombstone over the row at a position.
func (d *PartitionTombstones) Over(position []byte) Tombstone {
	if !d.Any {
		return NoTombstone
	}
	i, exact := slices.BinarySearchFunc(d.Ranges, position, func(r RangeTombstone, p []byte) int {
		return bytes.Compare(r.Start, p)
	})
	if !exact {
		i--
	}
	if i < 0 || bytes.Compare(position, d.Ranges[i].End) >= 0 {
		return d.Partition
	}
	return d.Partition.Later(d.Ranges[i].Tombstone)
}

// CutRanges cuts ranges, sorted by their starts, so that none overlap. Each place keeps the furthest-reaching
// tombstone over it.
func CutRanges(ranges []RangeTombstone) []RangeTombstone {
	points := make([][]byte, 0, 2*len(ranges))
	for i := range ranges {
		points = append(points, ranges[i].Start, ranges[i].End)
	}
	slices.SortFunc(points, bytes.Compare)
	points = slices.CompactFunc(points, bytes.Equal)
	var cut []RangeTombstone
	var open openRanges
	next := 0
	for i, at := range points[:len(points)-1] {
		for ; next < len(ranges) && bytes.Equal(ranges[next].Start, at); next++ {
			heap.Push(&open, &ranges[next])
		}
		for len(open) > 0 && bytes.Compare(open[0].End, at) <= 0 {
			heap.Pop(&open)
		}
		if len(open) == 0 {
			continue
		}
		if n := len(cut); n > 0 && cut[n-1].Tombstone == open[0].Tombstone && bytes.Equal(cut[n-1].End, at) {
			cut[n-1].End = points[i+1]
			continue
		}
		cut = append(cut, RangeTombstone{at, points[i+1], open[0].Tombstone})
	}
	return cut
}

// openRanges is a heap with the furthest-reaching range on top.
type openRanges []*RangeTombstone

// Len implements heap.Interface.
func (o openRanges) Len() int { return len(o) }

// Less implements heap.Interface.
func (o openRanges) Less(i, j int) bool {
	return o[i].Tombstone != o[j].Tombstone && o[i].Later(o[j].Tombstone) == o[i].Tombstone
}

// Swap implements heap.Interface.
func (o openRanges) Swap(i, j int) { o[i], o[j] = o[j], o[i] }

// Push implements heap.Interface.
func (o *openRanges) Push(r any) { *o = append(*o, r.(*RangeTombstone)) }

// Pop implements heap.Interface.
func (o *openRanges) Pop() any {
	last := (*o)[len(*o)-1]
	*o = (*o)[:len(*o)-1]
	return last
}
