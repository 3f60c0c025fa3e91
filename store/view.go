package store

import (
	"math"

	"github.com/cqld/cqld/store/index"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/rows"
)

// A materialized view is a table with a number of its own. Its rows are written in the same update of the engine as the
// rows of the base that they are made of, with the partitions of the base as guards (see view_writes.go). A row of a
// view is replaced as a whole and removed without a tombstone, because at any time it follows from one row of the base.
//
// A row of a view exists as long as its marker does. The marker ends with the cell that is in the view's key, or else
// with the last part of the base's row. So what expires does so in the view without a write.

// viewOf returns what is kept of a view, or nil.
func (s *state) viewOf(view *schema.Table) *index.Index {
	for _, x := range s.indexes[s.ids[view.View.BaseID]] {
		if x.View != nil && x.View.ID == view.ID {
			return x
		}
	}
	return nil
}

// IsViewBuilt reports whether a view has the rows that its base had before the view was defined.
func (s *builder) IsViewBuilt(view *schema.Table) bool {
	x := s.current().viewOf(view)
	return x != nil && x.Built
}

// makeViewRow makes the row of a view, given the row of the base as it was written: nothing has expired. It returns nil if
// the view has no row for it. now is the second in which that happens.
func makeViewRow(x *index.Index, row *Row, head *rows.Head, kept []rows.Cell, now int64) *Mutation {
	inKey := len(x.View.PartitionKey)
	values := make([][]byte, len(x.Places), 8)
	for i, place := range x.Places {
		value := row.Values[place]
		if value == nil || inKey > 1 && i < inKey && len(value) > math.MaxUint16 {
			return nil
		}
		values[i] = value
	}
	for i := range x.View.View.Where {
		if !x.View.View.Where[i].Holds(x.Table, row.Values) {
			return nil
		}
	}
	ends, ok := rowEnds(x, row, head, kept, now)
	if !ok {
		return nil
	}
	m := NewMutation(x.View, index.JoinKey(nil, values[:inKey]))
	m.Row(values[inKey:])
	m.Mark(written(row, head, kept), ends)
	for i := range kept {
		c := kept[i]
		if id, ok := x.Columns[c.Column]; ok {
			c.Column = id
			m.add(c)
		}
	}
	m.endRow()
	return m
}

// written is a timestamp for a row of a view: the earliest of what the row of the base has, because a row without
// older cells is read sooner. If cells expire, it is that of the marker or of the first cell, by which reads tell
// whether what has expired counts as a tombstone.
func written(row *Row, head *rows.Head, kept []rows.Cell) int64 {
	first := head.Marker.Timestamp
	if !row.Marked && len(kept) > 0 {
		first = kept[0].Timestamp
	}
	earliest := first
	for i := range kept {
		if kept[i].Expiry.At != 0 {
			return first
		}
		earliest = min(earliest, kept[i].Timestamp)
	}
	return earliest
}

// rowEnds returns when the row of a view ends. It is not ok if a sweep has taken the value that is in its key.
func rowEnds(x *index.Index, row *Row, head *rows.Head, kept []rows.Cell, now int64) (ends Expiry, ok bool) {
	if x.Column != nil {
		for i := range kept {
			if c := &kept[i]; c.Column == x.Column.ID {
				return c.Expiry, c.Expiry.At == 0 || c.Expiry.At > now || len(c.Value) > 0
			}
		}
		return Expiry{}, false
	}
	last := func(e Expiry) {
		if e.At == 0 {
			e.At = math.MaxInt64
		}
		if e.At > ends.At {
			ends = e
		}
	}
	if row.Marked {
		last(head.Marker.Expiry)
	}
	for i := range kept {
		last(kept[i].Expiry)
	}
	if ends.At == math.MaxInt64 {
		return Expiry{}, true
	}
	return ends, ends.At != 0
}
