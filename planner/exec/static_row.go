package exec

import (
	"bytes"

	"github.com/cqld/cqld/store"
)

// staticRow keeps the static row of a partition until it is known whether the partition has other rows.
type staticRow struct {
	set       bool
	partition []byte
	values    [][]byte
	meta      []store.CellMeta
	bytes     []byte // the memory of values
}

// keep copies a row.
func (s *staticRow) keep(row *store.Row) {
	s.set = true
	s.partition = append(s.partition[:0], row.Partition...)
	s.values, s.bytes = copyRow(s.values, s.bytes, row.Values)
	s.meta = append(s.meta[:0], row.Meta...)
}

// isOf reports whether a row of the partition is kept.
func (s *staticRow) isOf(partition []byte) bool { return s.set && bytes.Equal(s.partition, partition) }

// drop forgets the row.
func (s *staticRow) drop() { s.set = false }

// reuse returns an empty one with the same memory.
func (s *staticRow) reuse() staticRow {
	clear(s.values)
	return staticRow{partition: s.partition[:0], values: s.values[:0], bytes: s.bytes[:0], meta: s.meta[:0]}
}

// copyRow copies a row's values into one piece of memory.
func copyRow(values [][]byte, memory []byte, row [][]byte) ([][]byte, []byte) {
	values, memory = values[:0], memory[:0]
	size := 0
	for _, v := range row {
		size += len(v)
	}
	if memory == nil || cap(memory) < size { // a slice of nil would make null of an empty value
		memory = make([]byte, 0, size)
	}
	for _, v := range row {
		if v == nil {
			values = append(values, nil)
			continue
		}
		from := len(memory)
		memory = append(memory, v...)
		values = append(values, memory[from:len(memory):len(memory)])
	}
	return values, memory
}
