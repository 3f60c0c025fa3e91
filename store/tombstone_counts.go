package store

import (
	"bytes"
	"errors"
	"sort"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/rows"
)

// ErrTombstones is the error of a read that has gone over more tombstones than TombstonesRead.Max.
var ErrTombstones = errors.New("a read has gone over too many tombstones")

// TombstonesRead counts the live rows and the tombstones that a Read goes over, as Cassandra does for its thresholds.
// Each of these is a tombstone:
//
//   - a deleted or expired cell;
//   - a dead row without such a cell, if it was deleted, has expired or had a collection deleted;
//   - a bound of a range tombstone within the slice that is read; two adjacent ranges share a bound.
//
// Tombstones of partitions do not count, nor does anything that another tombstone hides or that is older than
// gc_grace_seconds. The methods are called by the Read; those of a nil TombstonesRead do nothing.
type TombstonesRead struct {
	Rows, Tombstones int // in total
	Peak             int // tombstones of the command that has read the most

	Max     int    // tombstones of a command before the read fails
	Asked   []bool // by schema.Column.Index: other columns' cells do not count if they are older than the marker; nil: all
	Statics bool   // static rows count

	command int  // tombstones since BeginCommand
	stopped bool // nothing counts until the next partition begins
	purger  rows.Purger
	reverse bool

	ranges []rows.RangeTombstone // of the slice, that the read has not passed yet
	passed *rows.RangeTombstone  // the last one that it has
	hidden int64                 // timestamp of the partition's tombstone

	cell    bool // a cell of the current row counts
	dropped bool // a collection of the current row was deleted
}

// BeginCommand begins another command: a part of a Read that Cassandra executes, and compares with the thresholds,
// separately. Each partition of a Read by keys is one. Callers divide other Reads.
func (t *TombstonesRead) BeginCommand() {
	if t != nil {
		t.command = 0
	}
}

// StopPartition ends counting until the next partition begins: Cassandra would not read the rest of this one.
func (t *TombstonesRead) StopPartition() {
	if t != nil {
		t.stopped = true
	}
}

func (t *TombstonesRead) beginPartition() {
	if t != nil {
		t.stopped = false
	}
}

func (t *TombstonesRead) begin(table *schema.Table, now int64, reverse bool) {
	if t != nil {
		t.purger, t.reverse, t.ranges = rows.NewPurger(table, now), reverse, nil
	}
}

func (t *TombstonesRead) count() {
	if t.stopped || t.command > t.Max {
		return
	}
	t.Tombstones++
	t.command++
	t.Peak = max(t.Peak, t.command)
}

func (t *TombstonesRead) failure() error {
	if t.command > t.Max {
		return ErrTombstones
	}
	return nil
}

// beginRow is called before the cells of a row.
func (t *TombstonesRead) beginRow() {
	if t != nil {
		t.cell, t.dropped = false, false
	}
}

// deadCell counts a dead cell of a row. deletion is the timestamp of the row's deletion, marker that of its marker.
func (t *TombstonesRead) deadCell(column *schema.Column, c *rows.Cell, deletion, marker int64) {
	switch {
	case t == nil || c.Timestamp <= deletion || t.purger.Due(c.Expiry.At-int64(c.Expiry.TTL)):
	case c.Path == nil && c.Deleted && types.IsMultiCell(column.Type):
		t.dropped = true
	case t.Asked != nil && !t.Asked[column.Index] && c.Timestamp < marker:
	default:
		t.cell = true
		t.count()
	}
}

// deadRow counts a dead row after its cells. hidden is the timestamp up to which tombstones of the partition and of
// ranges hide it.
func (t *TombstonesRead) deadRow(h *rows.Head, hidden int64) error {
	if t == nil {
		return nil
	}
	deleted := h.Deletion.Timestamp > hidden && !t.purger.Due(h.Deletion.Second)
	expired := h.Marker.Timestamp > max(hidden, h.Deletion.Timestamp) && !t.purger.Due(h.Marker.Expiry.At)
	if !t.cell && (t.dropped || deleted || expired) {
		t.count()
	}
	return t.failure()
}

// liveRow counts a live row, and the range tombstones before its position.
func (t *TombstonesRead) liveRow(position []byte) error {
	if t == nil {
		return nil
	}
	t.Rows++
	return t.passRanges(position)
}

// beginSlice finds the range tombstones between two positions of a partition. A nil end is that of the partition.
func (t *TombstonesRead) beginSlice(d *rows.PartitionTombstones, start, end []byte) {
	if t == nil {
		return
	}
	t.ranges, t.passed, t.hidden = nil, nil, d.Partition.Timestamp
	if !d.Any {
		return
	}
	first := sort.Search(len(d.Ranges), func(i int) bool { return bytes.Compare(d.Ranges[i].End, start) > 0 })
	t.ranges = d.Ranges[first:]
	if end != nil {
		n := sort.Search(len(t.ranges), func(i int) bool { return bytes.Compare(t.ranges[i].Start, end) >= 0 })
		t.ranges = t.ranges[:n]
	}
}

// passRanges counts the bounds of the range tombstones before a position, in the order of the read; nil: of all.
func (t *TombstonesRead) passRanges(position []byte) error {
	if t == nil {
		return nil
	}
	for n := len(t.ranges); n > 0; n-- {
		x := &t.ranges[0]
		if t.reverse {
			x = &t.ranges[n-1]
		}
		switch {
		case position != nil && !t.reverse && bytes.Compare(x.Start, position) > 0,
			position != nil && t.reverse && bytes.Compare(x.End, position) <= 0:
			return t.failure()
		case t.reverse:
			t.ranges = t.ranges[:n-1]
		default:
			t.ranges = t.ranges[1:]
		}
		if x.Timestamp <= t.hidden || t.purger.Due(x.Second) {
			continue
		}
		if t.passed == nil || !adjacent(t.passed, x) && !adjacent(x, t.passed) {
			t.count()
		}
		t.count()
		t.passed = x
	}
	return t.failure()
}

// adjacent reports whether y begins with the bound that x ends with. Two ranges of all rows with one value have
// separate bounds: one ends after its value, the other begins before the next.
func adjacent(x, y *rows.RangeTombstone) bool {
	return bytes.Equal(x.End, y.Start) && !bytes.Equal(rows.Successor(bytes.Clone(x.Start)), x.End)
}
