package store

import "github.com/cqld/cqld/cql/schema"

// purger takes out of stored rows what can never be seen again.
type purger struct {
	now   int64 // seconds since 1970
	grace int64 // the table's gc_grace_seconds
	table *schema.Table
}

// purgerOf purges a table's rows as of a second.
func purgerOf(t *schema.Table, now int64) purger {
	return purger{now: now, grace: int64(t.Options.GCGraceSeconds), table: t}
}

// lost reports whether a cell is of a column that was dropped later than it was written.
func (p *purger) lost(c *cell) bool {
	upTo, some := p.table.Lost(c.column)
	return some && c.ts <= upTo
}

// due reports whether a tombstone written in that second may go: more than gc_grace_seconds later. One whose second is
// not known stays.
func (p *purger) due(second int64) bool { return second != 0 && second+p.grace < p.now }

// over reports whether what has an expiry may go without leaving a tombstone.
func (p *purger) over(e Expiry) bool { return e.At != 0 && e.At <= p.now && p.due(e.At-int64(e.TTL)) }

// row returns what stays of a row's value, nil if nothing does, and whether that is less. hidden is the tombstone of the
// partition or of a range of rows that reaches furthest.
func (p *purger) row(value []byte, hidden tombstone) (kept []byte, less bool, err error) {
	var r rowReader
	if err := r.begin(value); err != nil {
		return nil, false, err
	}
	w := rowWriter{head: r.head, dst: make([]byte, 0, len(value))}
	cover := r.deletion.max(hidden)
	if r.deletion.ts != noTime && (cover == hidden || p.due(r.deletion.second)) {
		w.deletion, less = noTombstone, true
	}
	if m := &r.marker; m.ts != noTime && (m.ts <= cover.ts || p.over(m.expiry)) {
		w.marker, less = noHead.marker, true
	}
	some := w.deletion.ts != noTime || w.marker.ts != noTime
	for r.next() {
		c := r.cell
		stays, changed := p.cell(&c, cover)
		less = less || changed
		if stays {
			some = true
			w.cell(&c)
		}
	}
	if r.err != nil || !some {
		return nil, true, r.err
	}
	return w.finish(), less, nil
}

// cell reports whether a cell stays under a tombstone that covers it, and whether there is less of it. What has expired
// loses its value, and stays as long as tombstones do.
func (p *purger) cell(c *cell, cover tombstone) (stays, less bool) {
	covered := c.ts <= cover.ts
	switch {
	case p.lost(c):
		return false, true
	case covered && (!c.counter || p.due(cover.second)):
		return false, true
	case c.deleted:
		gone := p.due(c.expiry.At)
		return !gone, gone
	case p.over(c.expiry):
		return false, true
	case c.expiry.live(p.now) || len(c.value) == 0:
		return true, false
	}
	c.value = nil
	return true, true
}
