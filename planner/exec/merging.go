package exec

import (
	"bytes"

	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec/restriction"
)

// merging gathers the rows of several partitions to sort them by clustering columns.
type merging struct {
	limit int
	rows  []sortedRow
	holding
}

// sortedRow is an encoded row with the values that it is sorted by.
type sortedRow struct {
	cells []byte
	by    [][]byte
}

// rowMemory is about how much memory a gathered row takes besides its values.
const rowMemory = 96

func (m *merging) collect(r *reading, partition []byte, row [][]byte, _ bool) (more bool, err error) {
	r.enterPartition(partition)
	r.page.partitionLeft--
	return true, m.addRow(r, row)
}

// addRow adds a row, or the row of a group.
func (m *merging) addRow(r *reading, row [][]byte) error {
	if err := r.out.encode(&r.x, row); err != nil {
		return err
	}
	s := sortedRow{cells: r.out.take()}
	for _, o := range r.plan.Sorts {
		s.by = append(s.by, bytes.Clone(row[o.Column.Index]))
	}
	m.rows = append(m.rows, s)
	if len(m.rows) >= spare(m.limit) {
		if err := m.cut(r); err != nil {
			return err
		}
	}
	return m.grow(r.read.Turn, s.size())
}

// size is about how much memory a row takes.
func (s *sortedRow) size() int { return rowMemory + len(s.cells) + length(s.by) + 24*len(s.by) }

// spare is how many rows are gathered before those beyond the limit are dropped.
func spare(limit int) int { return 2*min(limit, noLimit/2) + 64 }

// cut sorts the rows and keeps as many as the LIMIT allows. Equal rows stay in the order of their partitions.
func (m *merging) cut(r *reading) error {
	compare := func(a, b sortedRow) int { return compareSorted(r.plan.Sorts, a.by, b.by) }
	err := restriction.SortStably(&r.x, m.rows, compare)
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
		if err := r.out.appendEncoded(m.rows[i].cells); err != nil {
			return err
		}
		m.rows[i].cells = nil
	}
	r.out.Count = len(m.rows)
	return nil
}

// compareSorted orders rows by ORDER BY. Null, in a row that has static columns only, sorts first in the table's order.
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
