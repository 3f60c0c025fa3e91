package protocol

import (
	"encoding/binary"

	"github.com/cqld/cqld/cql/cqlerr"
)

// Rows is the RESULT of a statement that returns rows.
//
//	<metadata><rows [int]>(<cell [bytes]>)*
type Rows struct {
	Metadata RowsMetadata
	Count    int
	Before   [][]byte // the cells of a long answer, in parts, in front of Cells
	Cells    []byte   // row by row, as sent
}

// Opcode is RESULT's.
func (*Rows) Opcode() Opcode { return OpResult }
func (*Rows) response()      {}

func (m *Rows) append(dst []byte, v Version) []byte {
	dst = m.appendHead(dst, v)
	for _, part := range m.Before {
		dst = append(dst, part...)
	}
	return append(dst, m.Cells...)
}

// appendHead appends what comes before the cells.
func (m *Rows) appendHead(dst []byte, v Version) []byte {
	dst = m.Metadata.append(appendInt(dst, resultRows), v)
	return appendInt(dst, int32(m.Count))
}

// Size is how many bytes the cells have.
func (m *Rows) Size() int {
	n := len(m.Cells)
	for _, part := range m.Before {
		n += len(part)
	}
	return n
}

func (m *Rows) decode(r *reader, _ Version) {
	m.Metadata.decode(r)
	n := r.int()
	if n < 0 {
		r.fail(cqlerr.Protocolf("Invalid number of rows: %d", n))
	}
	m.Count, m.Cells = int(n), r.b
	r.b = nil
}

// Split returns the cells row by row; nil is null. They alias Cells.
func (m *Rows) Split() ([][][]byte, error) {
	columns := m.Metadata.Columns.Len()
	if columns == 0 && m.Count > 0 || int64(columns)*int64(m.Count) > int64(len(m.Cells)/4) {
		return nil, cqlerr.Protocolf("%d rows of %d columns do not fit into %d bytes", m.Count, columns, len(m.Cells))
	}
	cells := make([][]byte, columns*m.Count)
	rest := m.Cells
	for i := range cells {
		n := -1
		if len(rest) >= 4 {
			n = int(int32(binary.BigEndian.Uint32(rest)))
			rest = rest[4:]
		} else {
			return nil, cqlerr.Protocolf("The cells end in row %d", i/columns)
		}
		if n > len(rest) {
			return nil, cqlerr.Protocolf("The cells end in row %d", i/columns)
		}
		if n >= 0 {
			cells[i], rest = rest[:n:n], rest[n:]
		}
	}
	rows := make([][][]byte, m.Count)
	for i := range rows {
		rows[i] = cells[i*columns : (i+1)*columns : (i+1)*columns]
	}
	return rows, nil
}
