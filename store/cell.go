package store

import (
	"bytes"
	"math"
)

// noTime is the timestamp of what is not there: no write can have it.
const noTime = math.MinInt64

// cell is one column's value in a row, or the tombstone of one.
type cell struct {
	column  uint32
	deleted bool
	ts      int64
	expiry  Expiry
	path    []byte // of one part of a column that is not frozen
	counter bool   // its value is a total or a change, see counter.go
	value   []byte
}

// least is how many bytes a cell takes in a stored row, at least.
func (c *cell) least() int {
	n := 2
	if c.path != nil {
		n += 1 + len(c.path)
	}
	if !c.deleted {
		n += 1 + len(c.value)
	}
	return n
}

// marker says that a row exists even without cells.
type marker struct {
	ts     int64 // noTime: there is none
	expiry Expiry
}

func (m *marker) live(deletion, now int64) bool { return m.ts > deletion && m.expiry.live(now) }

// live reports whether the cell has a value at now in a row deleted at deletion.
func (c *cell) live(deletion, now int64) bool {
	return !c.deleted && c.ts > deletion && c.expiry.live(now)
}

// live reports whether what has this expiry still exists: it ends with the second before At.
func (e Expiry) live(now int64) bool { return e.At == 0 || now < e.At }

// compareColumns orders cells in a row: by column, then by path.
func (c *cell) compareColumns(o *cell) int {
	switch {
	case c.column < o.column:
		return -1
	case c.column > o.column:
		return 1
	}
	return bytes.Compare(c.path, o.path)
}

// beats reports whether c wins over another cell of the same column and path. It is a total order of
// everything a cell holds, so the winner does not depend on the order in which cells meet: the later
// timestamp; then a tombstone; then one that expires, the later the better; then the larger value. Counters have an order
// of their own.
func (c *cell) beats(o *cell) bool {
	if c.counter && o.counter {
		return c.outcounts(o)
	}
	switch {
	case c.ts != o.ts:
		return c.ts > o.ts
	case c.deleted != o.deleted:
		return c.deleted
	case c.expiry.At != o.expiry.At:
		return c.expiry.At > o.expiry.At
	}
	if d := bytes.Compare(c.value, o.value); d != 0 {
		return d > 0
	}
	return c.expiry.TTL > o.expiry.TTL
}

// beats is the same order for markers.
func (m *marker) beats(o *marker) bool {
	switch {
	case m.ts != o.ts:
		return m.ts > o.ts
	case m.expiry.At != o.expiry.At:
		return m.expiry.At > o.expiry.At
	}
	return m.expiry.TTL > o.expiry.TTL
}
