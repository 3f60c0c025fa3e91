package rows

import (
	"math"

	"github.com/cqld/cqld/cql/schema"
)

// Purger removes data from stored rows that no read returns: shadowed cells, cells of dropped columns, and tombstones
// and expired cells after gc_grace_seconds.
type Purger struct {
	Now   int64 // seconds since 1970
	Grace int64 // the table's gc_grace_seconds
	Table *schema.Table
}

// NewPurger returns the purger of a table's rows at a second.
func NewPurger(t *schema.Table, now int64) Purger {
	return Purger{Now: now, Grace: int64(t.Options.GCGraceSeconds), Table: t}
}

// dropped reports whether a cell was written before its column was dropped.
func (p *Purger) dropped(c *Cell) bool {
	upTo, some := p.Table.Lost(c.Column)
	return some && c.Timestamp <= upTo
}

// Due reports whether a tombstone written in that second may be purged: gc_grace_seconds are over. If the second is
// not known, it may not.
func (p *Purger) Due(second int64) bool { return second != 0 && second+p.Grace < p.Now }

// ExpiryDue reports whether an expired cell may be purged without leaving a tombstone.
func (p *Purger) ExpiryDue(e Expiry) bool {
	return e.At != 0 && e.At <= p.Now && p.Due(e.At-int64(e.TTL))
}

// Purge returns the purged value of a row, nil if nothing remains, and whether anything was removed. hidden is the
// furthest-reaching tombstone of the partition and of ranges over the row.
func (p *Purger) Purge(value []byte, hidden Tombstone) (kept []byte, less bool, err error) {
	var r Reader
	if err := r.ReadHead(value); err != nil {
		return nil, false, err
	}
	if p.Table.View != nil && !r.Marker.Live(NoTimestamp, p.Now) {
		return nil, true, nil // the row of a view ends with its marker
	}
	w := Writer{Head: r.Head, Dst: make([]byte, 0, len(value))}
	cover := r.Deletion.Later(hidden)
	if r.Deletion.Timestamp != NoTimestamp && (cover == hidden || p.Due(r.Deletion.Second)) {
		w.Deletion, less = NoTombstone, true
	}
	if m := &r.Marker; m.Timestamp != NoTimestamp && (m.Timestamp <= cover.Timestamp || p.ExpiryDue(m.Expiry)) {
		w.Marker, less = NoHead.Marker, true
	}
	some := w.Deletion.Timestamp != NoTimestamp || w.Marker.Timestamp != NoTimestamp
	for r.ReadCell() {
		c := r.Cell
		stays, changed := p.cell(&c, cover)
		less = less || changed
		if stays {
			some = true
			w.WriteCell(&c)
		}
	}
	if r.Err != nil || !some {
		return nil, true, r.Err
	}
	return w.Finish(), less, nil
}

// cell reports whether a cell stays under the tombstone that covers it, and whether it changes. An expired cell loses
// its value at once and is purged like a tombstone.
func (p *Purger) cell(c *Cell, cover Tombstone) (stays, less bool) {
	covered := c.Timestamp <= cover.Timestamp
	switch {
	case p.dropped(c):
		return false, true
	case covered && (!c.Counter || p.Due(cover.Second)):
		return false, true
	case c.Deleted:
		gone := p.Due(c.Expiry.At)
		return !gone, gone
	case p.ExpiryDue(c.Expiry):
		return false, true
	case c.Expiry.live(p.Now) || len(c.Value) == 0:
		return true, false
	}
	c.Value = nil
	return true, true
}

// NextPurge returns the second from which something of a row may be purged, and the number of its tombstones.
func NextPurge(value []byte, grace, now int64) (due, tombstones int64, err error) {
	var r Reader
	if err := r.ReadHead(value); err != nil {
		return 0, 0, err
	}
	due = math.MaxInt64
	if r.Deletion.Timestamp != NoTimestamp {
		tombstones++
		due = min(due, DueAfter(Expiry{At: r.Deletion.Second}, grace, now))
	}
	due = min(due, DueAfter(r.Marker.Expiry, grace, now))
	for r.ReadCell() {
		if c := &r.Cell; c.Deleted || c.Expiry.At != 0 {
			if c.Deleted || !c.Expiry.live(now) {
				tombstones++
			}
			due = min(due, DueAfter(c.Expiry, grace, now))
		}
	}
	return due, tombstones, r.Err
}

// DueAfter returns the second from which something with this expiry may be purged: the value when it expires, the
// tombstone gc_grace_seconds after it was written.
func DueAfter(e Expiry, grace, now int64) int64 {
	switch {
	case e.At == 0:
		return math.MaxInt64
	case e.TTL != 0 && e.At > now:
		return e.At
	}
	return max(e.At, e.At-int64(e.TTL)+grace+1)
}

// DroppedTimes returns, by column index, the timestamp up to which cells belong to a dropped column of that name
// and are ignored; nil if no column was dropped before. last is the latest of these timestamps.
func DroppedTimes(t *schema.Table) (times []int64, last int64) {
	last = math.MinInt64
	for _, c := range t.Columns {
		upTo, some := t.Lost(c.ID)
		if !some {
			continue
		}
		if times == nil {
			times = make([]int64, len(t.Columns))
			for i := range times {
				times[i] = math.MinInt64
			}
		}
		times[c.Index], last = upTo, max(last, upTo)
	}
	return times, last
}
