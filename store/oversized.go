package store

import (
	"slices"
	"unsafe"

	"github.com/cqld/cqld/store/rows"
)

// Check refuses mutations that are certainly too large before they are complete, with the error of Apply. The last
// one is being built, the others have before bytes, and at least more bytes will follow. The error names the size
// so far.
func (s *Store) Check(ms []*Mutation, before, more int) error {
	m := ms[len(ms)-1]
	before += len(m.buf) + more
	if s.fits(before, m.size, more) || !m.settle() || s.fits(before, m.size, more) {
		return nil
	}
	return s.oversized(ms[0], before+m.size)
}

// fits reports whether a row fits behind before bytes, when more is added to it.
func (s *Store) fits(before, row, more int) bool {
	return before+row <= s.limits.CommitBytes && row+more <= s.limits.Value
}

// settle removes cells that others replace or hide, so that size is exact. It returns false without doing so if the
// last time removed little: it takes long.
func (m *Mutation) settle() bool {
	if !m.open || m.sorted && !m.elements && m.head.Deletion.Timestamp == rows.NoTimestamp {
		return true
	}
	if m.united > 0 && m.size-m.united < m.united/8 {
		return false
	}
	m.normalize()
	m.sorted, m.size = true, 0
	for i := range m.cells {
		m.size += m.cells[i].MinSize()
	}
	m.united = m.size
	return true
}

// CellSize is the memory that a cell takes, besides its name and value, until its row ends.
const CellSize = int(unsafe.Sizeof(rows.Cell{}))

// Reserve makes room for cells and for so many bytes of their names.
func (m *Mutation) Reserve(cells, names int) {
	m.cells = slices.Grow(m.cells, cells)
	m.paths = slices.Grow(m.paths, names)
}

// Size ends the row that is being built and returns the bytes of the mutation.
func (m *Mutation) Size() int {
	m.endRow()
	return len(m.buf)
}
