package rows

import "slices"

// columnTombstone is the tombstone of a whole collection. It goes over the cells of a row in their order, and is
// replaced at each column.
type columnTombstone struct {
	column uint32
	ts     int64
}

// hides reports whether the tombstone of its column hides c.
func (h *columnTombstone) hides(c *Cell) bool {
	if c.Path == nil {
		if h.column, h.ts = c.Column, NoTimestamp; c.Deleted {
			h.ts = c.Timestamp
		}
		return false
	}
	return c.Column == h.column && c.Timestamp <= h.ts
}

// DropHidden removes the elements of collections that a tombstone of their column hides.
func DropHidden(cells []Cell) []Cell {
	var h columnTombstone
	return slices.DeleteFunc(cells, func(c Cell) bool { return h.hides(&c) })
}
