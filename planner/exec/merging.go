package exec

import (
	"slices"

	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/expr"
)

// merging gathers the rows of several partitions to sort them by clustering columns.
type merging struct {
	limit int
	rows  []sortedRow
	holding
}

// sortedRow is an encoded row with what it is sorted by.
type sortedRow struct {
	cells []byte
	by    [][]byte
}

// rowOverheads is about what a gathered row takes beside its values.
const rowOverheads = 96

func newMerging(limit int) *merging { return &merging{limit: limit} }

func (m *merging) add(r *reading, row [][]byte) error {
	if err := r.encode(row); err != nil {
		return err
	}
	s := sortedRow{cells: slices.Clone(r.out.Cells)}
	r.out.Cells = r.out.Cells[:0]
	for _, o := range r.plan.Sorts {
		v := row[o.Column.Index]
		if v != nil {
			v = append([]byte{}, v...)
		}
		s.by = append(s.by, v)
	}
	m.rows = append(m.rows, s)
	if len(m.rows) >= spare(m.limit) {
		if err := m.cut(r); err != nil {
			return err
		}
	}
	return m.holding.add(r, s.size())
}

// size is about how much memory a row takes.
func (s *sortedRow) size() int { return rowOverheads + len(s.cells) + length(s.by) + 24*len(s.by) }

// spare is how many rows are gathered before those beyond a limit go.
func spare(limit int) int { return 2*min(limit, noLimit/2) + 64 }

// cut keeps as many rows as the LIMIT says. Rows that are equal stay in the order of their partitions.
func (m *merging) cut(r *reading) error {
	err := sortStably(&r.x, m.rows, func(a, b sortedRow) int { return compareSorted(r.plan.Sorts, a.by, b.by) })
	for i := m.limit; i < len(m.rows); i++ {
		m.used -= m.rows[i].size()
		m.rows[i] = sortedRow{}
	}
	m.rows = m.rows[:min(len(m.rows), m.limit)]
	return err
}

// finish sorts the rows.
func (m *merging) finish(r *reading) error {
	if err := m.cut(r); err != nil {
		return err
	}
	for i := range m.rows {
		if err := r.appendCells(m.rows[i].cells); err != nil {
			return err
		}
		m.rows[i].cells = nil
	}
	r.out.Count = len(m.rows)
	return nil
}

// appendCells appends an encoded row to the result.
func (r *reading) appendCells(cells []byte) error {
	if err := r.reserve(len(cells)); err != nil {
		return err
	}
	r.out.Cells = append(r.out.Cells, cells...)
	return nil
}

// sortStably sorts, and lets others run now and then.
func sortStably[T any](x *expr.Context, rows []T, compare func(a, b T) int) error {
	var err error
	n := 0
	slices.SortStableFunc(rows, func(a, b T) int {
		if n++; n%16 == 0 && err == nil {
			err = step(x)
		}
		if err != nil {
			return 0 // the order does not matter any more
		}
		return compare(a, b)
	})
	return err
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
