package store

import (
	"slices"
	"unsafe"

	"github.com/cqld/cqld/store/rows"
)

// Check refuses mutations as Apply would, before all of them is made: once they are certainly too large. The last one is
// being built, those before it have so many bytes, and more is what will come besides, at least. The size in the error is
// that of what was there until then.
func (s *Store) Check(ms []*Mutation, before, more int) error {
	m := ms[len(ms)-1]
	before += len(m.buf) + more
	if s.fits(before, m.size, more) || !m.settle() || s.fits(before, m.size, more) {
		return nil
	}
	return s.oversized(ms[0], before+m.size)
}

// fits reports whether a row of that size, which more is added to, fits behind what is before it.
func (s *Store) fits(before, row, more int) bool {
	return before+row <= s.limits.CommitBytes && row+more <= s.limits.Value
}

// settle takes out cells that others replace or hide, so that size is right. It reports false if it did so when there was
// little less: each time would take long.
func (m *Mutation) settle() bool {
	if !m.open || m.sorted && !m.parted && m.head.Deletion.Timestamp == rows.NoTimestamp {
		return true
	}
	if m.united > 0 && m.size-m.united < m.united/8 {
		return false
	}
	m.normalize()
	m.sorted, m.size = true, 0
	for i := range m.cells {
		m.size += m.cells[i].LeastSize()
	}
	m.united = m.size
	return true
}

// CellSize is how much memory a cell takes beside its name and value until its row is ended.
const CellSize = int(unsafe.Sizeof(rows.Cell{}))

// Reserve makes room for cells that follow, and for so many bytes of their names.
func (m *Mutation) Reserve(cells, names int) {
	m.cells = slices.Grow(m.cells, cells)
	m.paths = slices.Grow(m.paths, names)
}

// Size ends the row that is being built, and is how many bytes the mutation has.
func (m *Mutation) Size() int {
	m.endRow()
	return len(m.buf)
}
