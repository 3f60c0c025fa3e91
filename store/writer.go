package store

import (
	"slices"
	"unsafe"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// writer applies mutations and decisions.
type writer struct {
	*core
	definer *definer // marks tables before the first tombstone of many rows
}

// Check refuses mutations that are certainly too large before they are complete, with the error of Apply. The last
// one is being built, the others have before bytes, and at least more bytes will follow. The error names the size
// so far.
func (s *writer) Check(ms []*Mutation, before, more int) error {
	m := ms[len(ms)-1]
	before += len(m.buf) + more
	if s.fits(before, m.size, more) || !m.settle() || s.fits(before, m.size, more) {
		return nil
	}
	return s.oversized(ms[0], before+m.size)
}

// fits reports whether a row of a size, after before bytes, still fits when more is added to it.
func (s *writer) fits(before, row, more int) bool {
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

// MaxRows is how many small rows, ranges and partitions one Apply can write to. It leaves one operation for the bound
// of timestamps.
func (s *core) MaxRows() int { return s.limits.CommitOps - 1 }

// tooLarge is the client's error for engine.ErrTooLarge.
func (s *core) tooLarge(m *Mutation) error {
	size := 0
	for _, g := range m.apply.group {
		size += len(g.buf)
	}
	return s.oversized(m, size)
}

// oversized refuses mutations of a size. m is the first of them.
func (s *core) oversized(m *Mutation, size int) error {
	limit := s.limits.CommitBytes
	if size < limit { // a single row is too large
		limit = s.limits.Value
	}
	key := m.partition[:min(len(m.partition), 64)]
	if size <= limit {
		return cqlerr.Invalidf("A stored row would have more than %d bytes with a mutation of %d for keyspace: %s. "+
			"Top keys are: %s.%x", limit, size, m.table.Keyspace, m.table.Name, key)
	}
	return cqlerr.Invalidf("Encountered an oversized mutation (%d/%d) for keyspace: %s. Top keys are: %s.%x",
		size, limit, m.table.Keyspace, m.table.Name, key)
}

func (s *core) checkKeys(ops []engine.Op) error {
	limit := s.limits.Key
	for i := range ops {
		if n := len(ops[i].Key); n > limit {
			return cqlerr.Invalidf("Key length of %d is longer than maximum of %d", n, limit)
		}
	}
	return nil
}

// Refusing says why writes are refused at the moment. It is nil if they are not.
func (s *core) Refusing() error { return s.engine.Refusing() }
