package store

import (
	"bytes"
	"container/heap"
	"slices"

	"github.com/cqld/cqld/store/engine"
)

// deletions are the tombstones of one partition; the zero value has none.
type deletions struct {
	some      bool
	partition tombstone
	ranges    []rangeDeletion // in order, not overlapping
	stored    []rangeDeletion // in order, as they are stored

	key  []byte
	take func(value []byte) error // add, as a value that is made once
}

// rangeDeletion hides rows whose keys, from their kind on, are in [start, end).
type rangeDeletion struct {
	start, end []byte
	tombstone
}

// none forgets the tombstones.
func (d *deletions) none() {
	d.some, d.partition, d.stored = false, noTombstone, d.stored[:0]
	d.ranges = nil
}

// load reads the tombstones of the partition with that key prefix, which is one of areaRows, as far as it may have any.
func (d *deletions) load(r engine.Reader, known *knownDeletions, prefix []byte) error {
	d.none()
	if known == nil {
		return nil
	}
	token := tokenOf(prefix)
	d.key = append(d.key[:0], prefix...)
	d.key[areaSize-1] &^= 1 // areaDeletions
	if known.has(ofRange, token) {
		return d.scan(r, d.key)
	}
	if !known.has(ofPartition, token) {
		return nil
	}
	if d.take == nil {
		d.take = func(value []byte) error { return d.add(nil, value) }
	}
	_, err := r.Get(d.key, d.take)
	return err
}

// scan reads the tombstones whose keys begin with that prefix.
func (d *deletions) scan(r engine.Reader, prefix []byte) error {
	err := r.Scan(prefix, successor(bytes.Clone(prefix)), engine.ScanOptions{}, func(key, value []byte) (bool, error) {
		return true, d.add(key[len(prefix):], value)
	})
	d.cut()
	return err
}

// add adds a tombstone as it is stored; that of the whole partition has no bounds. When all are added cut is called.
func (d *deletions) add(bounds, value []byte) error {
	t, err := readTombstone(value)
	if err != nil {
		return err
	}
	d.some = true
	if len(bounds) == 0 {
		d.partition = t
		return nil
	}
	start, rest, err := splitEscaped(nil, bounds)
	if err != nil {
		return err
	}
	d.stored = append(d.stored, rangeDeletion{start, bytes.Clone(rest), t})
	return nil
}

// cut makes ranges of what is stored.
func (d *deletions) cut() {
	d.ranges = d.stored
	if len(d.stored) > 1 {
		d.ranges = furthest(d.stored)
	}
}

// needs reports whether a range still hides anything that no other tombstone of the partition does.
func (d *deletions) needs(start, end []byte, t tombstone) bool {
	if d.partition.max(t) == d.partition {
		return false
	}
	for i := range d.ranges {
		r := &d.ranges[i]
		if r.tombstone == t && bytes.Compare(start, r.end) < 0 && bytes.Compare(r.start, end) < 0 {
			return true
		}
	}
	return false
}

// of returns the timestamp up to which a row is deleted; position is its key from its kind on.
func (d *deletions) of(position []byte) int64 { return d.tombstoneOf(position).ts }

// tombstoneOf returns the tombstone over a row that reaches furthest.
func (d *deletions) tombstoneOf(position []byte) tombstone {
	if !d.some {
		return noTombstone
	}
	i, exact := slices.BinarySearchFunc(d.ranges, position, func(r rangeDeletion, p []byte) int { return bytes.Compare(r.start, p) })
	if !exact {
		i--
	}
	if i < 0 || bytes.Compare(position, d.ranges[i].end) >= 0 {
		return d.partition
	}
	return d.partition.max(d.ranges[i].tombstone)
}

// furthest cuts ranges, sorted by where they start, so that none overlap and each place keeps the tombstone over it that
// reaches furthest.
func furthest(ranges []rangeDeletion) []rangeDeletion {
	points := make([][]byte, 0, 2*len(ranges))
	for i := range ranges {
		points = append(points, ranges[i].start, ranges[i].end)
	}
	slices.SortFunc(points, bytes.Compare)
	points = slices.CompactFunc(points, bytes.Equal)
	var cut []rangeDeletion
	var open openRanges
	next := 0
	for i, at := range points[:len(points)-1] {
		for ; next < len(ranges) && bytes.Equal(ranges[next].start, at); next++ {
			heap.Push(&open, &ranges[next])
		}
		for len(open) > 0 && bytes.Compare(open[0].end, at) <= 0 {
			heap.Pop(&open)
		}
		if len(open) == 0 {
			continue
		}
		if n := len(cut); n > 0 && cut[n-1].tombstone == open[0].tombstone && bytes.Equal(cut[n-1].end, at) {
			cut[n-1].end = points[i+1]
			continue
		}
		cut = append(cut, rangeDeletion{at, points[i+1], open[0].tombstone})
	}
	return cut
}

// openRanges is a heap with the range on top whose tombstone reaches furthest.
type openRanges []*rangeDeletion

func (o openRanges) Len() int { return len(o) }
func (o openRanges) Less(i, j int) bool {
	return o[i].tombstone != o[j].tombstone && o[i].max(o[j].tombstone) == o[i].tombstone
}
func (o openRanges) Swap(i, j int) { o[i], o[j] = o[j], o[i] }

// Push is heap's.
func (o *openRanges) Push(r any) { *o = append(*o, r.(*rangeDeletion)) }

// Pop is heap's.
func (o *openRanges) Pop() any {
	last := (*o)[len(*o)-1]
	*o = (*o)[:len(*o)-1]
	return last
}
