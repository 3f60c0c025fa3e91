package rows

import (
	"bytes"
	"math"
)

// NoTimestamp means that there was no write: no write can have this timestamp.
const NoTimestamp = math.MinInt64

// Cell is the value of one column in a row, or a tombstone of it. A collection has one cell for each element.
type Cell struct {
	Column    uint32
	Deleted   bool
	Timestamp int64
	Expiry    Expiry
	Path      []byte // names one element of a collection, or one field of a user type; nil: none
	Counter   bool   // its value is a total or a change, see counter_totals.go
	Value     []byte
}

// MinSize is a lower bound of the cell's size in a stored row.
func (c *Cell) MinSize() int {
	n := 2
	if c.Path != nil {
		n += 1 + len(c.Path)
	}
	if !c.Deleted {
		n += 1 + len(c.Value)
	}
	return n
}

// Marker makes a row exist without cells. INSERT writes one.
type Marker struct {
	Timestamp int64 // NoTimestamp: there is none
	Expiry    Expiry
}

// Live reports whether the marker is alive at now in a row deleted at deletion.
func (m *Marker) Live(deletion, now int64) bool { return m.Timestamp > deletion && m.Expiry.live(now) }

// Live reports whether the cell has a value at now in a row deleted at deletion.
func (c *Cell) Live(deletion, now int64) bool {
	return !c.Deleted && c.Timestamp > deletion && c.Expiry.live(now)
}

// live reports whether something with this expiry still exists. Its last second is the one before At.
func (e Expiry) live(now int64) bool { return e.At == 0 || now < e.At }

// Compare orders cells in a row: by column, then by path.
func (c *Cell) Compare(o *Cell) int {
	switch {
	case c.Column < o.Column:
		return -1
	case c.Column > o.Column:
		return 1
	}
	return bytes.Compare(c.Path, o.Path)
}

// Expiry is a TTL and the second it ends; the zero value is none.
type Expiry struct {
	TTL int32
	At  int64 // seconds since 1970
}

// Beats reports whether c wins over another cell of the same column and path. The later timestamp wins. Between
// equal timestamps a tombstone wins, then a cell that expires, the one that expires later, the larger value. Two
// different cells never tie, so the winner does not depend on the order in which cells are compared. Counters are
// compared by their changes, see counter_totals.go.
func (c *Cell) Beats(o *Cell) bool {
	if c.Counter && o.Counter {
		return c.outcounts(o)
	}
	switch {
	case c.Timestamp != o.Timestamp:
		return c.Timestamp > o.Timestamp
	case c.Deleted != o.Deleted:
		return c.Deleted
	case c.Expiry.At != o.Expiry.At:
		return c.Expiry.At > o.Expiry.At
	}
	if d := bytes.Compare(c.Value, o.Value); d != 0 {
		return d > 0
	}
	return c.Expiry.TTL > o.Expiry.TTL
}

// Beats reports whether m wins over another marker: the later timestamp, then the later expiry.
func (m *Marker) Beats(o *Marker) bool {
	switch {
	case m.Timestamp != o.Timestamp:
		return m.Timestamp > o.Timestamp
	case m.Expiry.At != o.Expiry.At:
		return m.Expiry.At > o.Expiry.At
	}
	return m.Expiry.TTL > o.Expiry.TTL
}
