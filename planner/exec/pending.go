package exec

import (
	"bytes"

	"github.com/cqld/cqld/store"
)

// pending is the static row of a partition, kept until it is known whether the partition has others.
type pending struct {
	set       bool
	partition []byte
	values    [][]byte
	meta      []store.CellMeta
	bytes     []byte // what values point to
}

// keep copies a row.
func (p *pending) keep(row *store.Row) {
	p.set = true
	p.partition = append(p.partition[:0], row.Partition...)
	p.values, p.bytes = copyRow(p.values, p.bytes, row.Values)
	p.meta = append(p.meta[:0], row.Meta...)
}

// is reports whether the row kept is of that partition.
func (p *pending) is(partition []byte) bool { return p.set && bytes.Equal(p.partition, partition) }

func (p *pending) drop() { p.set = false }

// empty keeps only the memory.
func (p *pending) empty() pending {
	clear(p.values)
	return pending{partition: p.partition[:0], values: p.values[:0], bytes: p.bytes[:0], meta: p.meta[:0]}
}

// copyRow copies a row's values, their bytes one behind the other.
func copyRow(values [][]byte, memory []byte, row [][]byte) ([][]byte, []byte) {
	values, memory = values[:0], memory[:0]
	size := 0
	for _, v := range row {
		size += len(v)
	}
	if cap(memory) < size {
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
