package exec

import (
	"slices"

	"github.com/cqld/cqld/planner"
)

// merging gathers the rows of several partitions to sort them by clustering columns.
type merging struct {
	limit int
	rows  []sortedRow
}

// sortedRow is an encoded row with what it is sorted by.
type sortedRow struct {
	from, to int // in Rows.Cells
	by       [][]byte
}

func newMerging(limit int) *merging { return &merging{limit: limit} }

func (m *merging) add(r *reading, row [][]byte) error {
	s := sortedRow{from: len(r.out.Cells)}
	if err := r.encode(row); err != nil {
		return err
	}
	s.to = len(r.out.Cells)
	for _, o := range r.plan.Sorts {
		v := row[o.Column.Index]
		if v != nil {
			v = append([]byte{}, v...)
		}
		s.by = append(s.by, v)
	}
	m.rows = append(m.rows, s)
	return nil
}

// finish sorts the rows and keeps as many as the LIMIT says. Rows that are equal stay in the order of
// their partitions.
func (m *merging) finish(r *reading) error {
	slices.SortStableFunc(m.rows, func(a, b sortedRow) int { return compareSorted(r.plan.Sorts, a.by, b.by) })
	m.rows = m.rows[:min(len(m.rows), m.limit)]
	var cells []byte
	for _, s := range m.rows {
		cells = append(cells, r.out.Cells[s.from:s.to]...)
	}
	r.out.Cells, r.out.Count = cells, len(m.rows)
	return nil
}

// compareSorted orders rows as ORDER BY says; null, of a row with static columns only, comes first in the order of the table.
func compareSorted(sorts []planner.Sort, a, b [][]byte) int {
	for i, o := range sorts {
		x, y := a[i], b[i]
		order := 0
		switch {
		case x == nil && y == nil:
		case x == nil:
			order = -1
		case y == nil:
			order = 1
		default:
			order = o.Column.Type.Compare(x, y)
		}
		if null := x == nil || y == nil; o.Desc != (null && o.Column.Desc) {
			order = -order
		}
		if order != 0 {
			return order
		}
	}
	return 0
}
