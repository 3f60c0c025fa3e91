package rows

import "bytes"

// Beats reports whether c wins over another cell of the same column and path. The later timestamp wins. Between
// equal timestamps a tombstone wins, then a cell that expires, the one that expires later, the larger value. Two
// different cells never tie, so the winner does not depend on the order in which cells meet. Counters have an order
// of their own.
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
