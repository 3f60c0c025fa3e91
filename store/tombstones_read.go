package store

import (
	"bytes"
	"errors"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/rows"
)

// ErrTombstones is what a read fails with that has read more tombstones than TombstonesRead.Most.
var ErrTombstones = errors.New("a read has gone over too many tombstones")

// TombstonesRead counts the live rows and the tombstones that a Read goes over, as Cassandra does for its warnings. A
// tombstone is
//
//   - each deleted or expired cell;
//   - a row that is not alive and has no such cell, if it was deleted, has expired or had a collection deleted;
//   - each bound of a range tombstone within what is read; where two ranges meet there is one bound.
//
// Tombstones of partitions do not count, nor what another tombstone hides, nor what is older than gc_grace_seconds.
//
// The store fills it during the Read. A nil TombstonesRead counts nothing.
type TombstonesRead struct {
	TombstoneCount // since the Read, the partition or the Restart began

	Most    int    // tombstones before the read fails
	Warn    int    // tombstones of a partition before it is in Over
	Asked   []bool // by schema.Column.Index: other columns' cells do not count if they are older than the marker; nil: all
	Statics bool   // static rows count

	// Of a Read by keys, which counts each partition anew:
	Partitions int              // how many of them the Read is through with
	Over       []PartitionCount // those with more than Warn tombstones, in their order

	before TombstoneCount // what was counted of earlier partitions, and before the Restart

	purger  rows.Purger // of the table at the time of the read
	reverse bool

	key     []byte // of the partition that is being read
	counted bool   // Partition is that one
	stopped bool   // nothing counts until the next partition
	static  TombstoneCount

	bounds  [][]byte // of range tombstones, in the order in which the read comes to them
	cell    bool     // a cell of the row at hand counts
	dropped bool     // a collection of the row at hand was deleted
}

// TombstoneCount is what was read of a table.
type TombstoneCount struct {
	Live       int // rows
	Tombstones int
	Partition  []byte // the serialized key of the last partition with anything that counts
}

// PartitionCount is the count of one partition of a Read by keys.
type PartitionCount struct {
	TombstoneCount
	Number int // of the partition among those read
}

// Reset makes the counts those of a Read that has not begun, and keeps the memory.
func (t *TombstonesRead) Reset() {
	*t = TombstonesRead{TombstoneCount: TombstoneCount{Partition: t.Partition[:0]}, bounds: t.bounds[:0]}
}

// StopPartition says that what follows in this partition is not read on the caller's behalf.
func (t *TombstonesRead) StopPartition() { t.stopped = true }

// Restart counts anew in the middle of a partition, as a Read does that continues there: with its static row.
func (t *TombstonesRead) Restart() {
	t.before.Live += t.Live - t.static.Live
	t.before.Tombstones += t.Tombstones - t.static.Tombstones
	t.Live, t.Tombstones = t.static.Live, t.static.Tombstones
}

// All returns the counts of all partitions of the Read.
func (t *TombstonesRead) All() (live, tombstones int) {
	return t.before.Live + t.Live, t.before.Tombstones + t.Tombstones
}

// Include adds the counts of another Read, to those of before.
func (t *TombstonesRead) Include(another *TombstonesRead) {
	live, tombstones := another.All()
	t.before.Live += live
	t.before.Tombstones += tombstones
}

func (t *TombstonesRead) begin(r *Read) {
	t.purger, t.reverse, t.bounds = rows.NewPurger(r.Table, r.Now), r.Reverse, t.bounds[:0]
}

// beginPartition says which partition is read from here on, and which tombstones are over it.
func (t *TombstonesRead) beginPartition(key []byte, d *rows.PartitionTombstones) {
	if t == nil {
		return
	}
	t.key, t.counted, t.stopped, t.static = key, false, false, TombstoneCount{}
	if d.Any && d.Partition.Timestamp != rows.NoTimestamp && !t.purger.Due(d.Partition.Second) {
		t.note()
	}
}

// endPartition ends the counts of a partition that was read by its key.
func (t *TombstonesRead) endPartition() {
	if t == nil {
		return
	}
	if t.Tombstones > t.Warn {
		c := PartitionCount{t.TombstoneCount, t.Partitions}
		c.Partition = bytes.Clone(c.Partition)
		t.Over = append(t.Over, c)
	}
	t.Partitions++
	t.before.Live += t.Live
	t.before.Tombstones += t.Tombstones
	t.Live, t.Tombstones = 0, 0
}

// note makes the partition at hand the last one with anything that counts.
func (t *TombstonesRead) note() {
	if !t.counted {
		t.counted = true
		t.Partition = append(t.Partition[:0], t.key...)
	}
}

// add counts a tombstone.
func (t *TombstonesRead) add() {
	if !t.stopped && t.Tombstones <= t.Most {
		t.Tombstones++
		t.note()
	}
}

// failure is ErrTombstones if there are too many.
func (t *TombstonesRead) failure() error {
	if t.Tombstones > t.Most {
		return ErrTombstones
	}
	return nil
}

// beginRow comes in front of the cells of a row.
func (t *TombstonesRead) beginRow() {
	if t != nil {
		t.cell, t.dropped = false, false
	}
}

// deadCell counts a cell that is not alive, of a row deleted at deletion and with a marker of that timestamp.
func (t *TombstonesRead) deadCell(column *schema.Column, c *rows.Cell, deletion, marker int64) {
	switch {
	case t == nil || c.Timestamp <= deletion || t.purger.Due(c.Expiry.At-int64(c.Expiry.TTL)):
	case c.Path == nil && c.Deleted && types.IsMultiCell(column.Type):
		t.dropped = true
	case t.Asked != nil && !t.Asked[column.Index] && c.Timestamp < marker:
	default:
		t.cell = true
		t.add()
	}
}

// deadRow counts a row that is not alive, behind its cells. hidden is the timestamp up to which tombstones of the
// partition and of ranges hide.
func (t *TombstonesRead) deadRow(h *rows.Head, hidden int64) error {
	if t == nil {
		return nil
	}
	deleted := h.Deletion.Timestamp > hidden && !t.purger.Due(h.Deletion.Second)
	expired := h.Marker.Timestamp > max(hidden, h.Deletion.Timestamp) && !t.purger.Due(h.Marker.Expiry.At)
	if !t.cell && (t.dropped || deleted || expired) {
		t.add()
	}
	return t.failure()
}

// liveRow counts a row that is alive, and the bounds of ranges in front of it.
func (t *TombstonesRead) liveRow(position []byte) error {
	if len(t.bounds) > 0 {
		t.addBounds(position)
	}
	if err := t.failure(); err != nil {
		return err
	}
	if !t.stopped {
		t.Live++
		t.note()
	}
	return nil
}

// beginStatic comes in front of the cells of the static row.
func (t *TombstonesRead) beginStatic() {
	if t != nil {
		t.stopped, t.static.Tombstones = !t.Statics, t.Tombstones
	}
}

// endStatic counts the static row, behind its cells.
func (t *TombstonesRead) endStatic(live bool, h *rows.Head, hidden int64) (err error) {
	switch {
	case t == nil:
		return nil
	case !live:
		err = t.deadRow(h, hidden)
	default:
		if err = t.failure(); err == nil && t.Statics {
			t.Live++
			t.note()
			t.static.Live = 1
		}
	}
	t.stopped, t.static.Tombstones = false, t.Tombstones-t.static.Tombstones
	return err
}

// beginSlice finds the bounds of range tombstones between two positions of the partition. A nil end is that of the
// partition.
func (t *TombstonesRead) beginSlice(d *rows.PartitionTombstones, start, end []byte) {
	if t == nil {
		return
	}
	t.bounds = t.bounds[:0]
	i, _ := slices.BinarySearchFunc(d.Ranges, start, func(x rows.RangeTombstone, at []byte) int {
		if bytes.Compare(x.End, at) <= 0 {
			return -1
		}
		return 1
	})
	var last *rows.RangeTombstone
	for ; i < len(d.Ranges); i++ {
		x := &d.Ranges[i]
		if end != nil && bytes.Compare(x.Start, end) >= 0 {
			break
		}
		if x.Timestamp <= d.Partition.Timestamp || t.purger.Due(x.Second) {
			continue
		}
		if last == nil || !meets(last, x.Start) {
			t.bounds = append(t.bounds, slices.MaxFunc([][]byte{start, x.Start}, bytes.Compare))
		}
		at := x.End
		if end != nil && bytes.Compare(end, at) < 0 {
			at = end
		}
		t.bounds = append(t.bounds, at)
		last = x
	}
	if t.reverse {
		slices.Reverse(t.bounds)
	}
}

// meets reports whether a range that begins at start shares the bound that x ends with. It does not if x is all rows
// with one value and the next range begins with the value after it: these are two bounds at one key.
func meets(x *rows.RangeTombstone, start []byte) bool {
	return bytes.Equal(x.End, start) && !bytes.Equal(rows.Successor(bytes.Clone(x.Start)), x.End)
}

// addBounds counts the bounds in front of the row at a position; nil: all that are left.
func (t *TombstonesRead) addBounds(position []byte) {
	n := 0
	for _, at := range t.bounds {
		if position != nil {
			if order := bytes.Compare(at, position); order > 0 && !t.reverse || order <= 0 && t.reverse {
				break
			}
		}
		t.add()
		n++
	}
	t.bounds = t.bounds[n:]
}

// endSlice counts the bounds behind the last row of a slice.
func (t *TombstonesRead) endSlice() error {
	if t == nil || len(t.bounds) == 0 {
		return nil
	}
	t.addBounds(nil)
	return t.failure()
}
