package protocol

import (
	"crypto/md5"
	"encoding/binary"
	"sync/atomic"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// Rows is the RESULT of a statement that returns rows.
//
//	<metadata><rows [int]>(<cell [bytes]>)*
type Rows struct {
	Metadata RowsMetadata
	Count    int
	Before   [][]byte // the first cells of a long result, in parts
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

// appendHead appends the part before the cells.
func (m *Rows) appendHead(dst []byte, v Version) []byte {
	dst = m.Metadata.append(appendInt(dst, resultRows), v)
	return appendInt(dst, int32(m.Count))
}

// Size is the number of bytes of the cells.
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

// RowsMetadata describes rows.
//
//	<flags [int]><columns [int]>[<paging state [bytes]>][<metadata id [short bytes]>][<column specs>]
type RowsMetadata struct {
	Columns *ColumnSpecs

	// Skip leaves the column specs out: the client knows them from PREPARE.
	Skip bool

	// PagingState continues with the next page; nil if this was the last.
	PagingState []byte

	// NewMetadataID, since v5, means that the columns differ from those the client expects. They are then sent even
	// with Skip.
	NewMetadataID []byte
}

// The flags of section 4.2.5.2.
const (
	metadataGlobal  = 0x1
	metadataPages   = 0x2
	metadataNone    = 0x4
	metadataChanged = 0x8
)

func (m *RowsMetadata) append(dst []byte, v Version) []byte {
	changed := m.NewMetadataID != nil && v.HasResultMetadataID()
	skip := m.Skip && !changed || !m.Columns.known()
	var flags int32
	if m.Columns.isGlobal() {
		flags |= metadataGlobal
	}
	if m.PagingState != nil {
		flags |= metadataPages
	}
	if skip {
		flags |= metadataNone
	}
	if changed {
		flags |= metadataChanged
	}
	dst = appendInt(appendInt(dst, flags), int32(m.Columns.Len()))
	if m.PagingState != nil {
		dst = appendBytes(dst, m.PagingState)
	}
	if changed {
		dst = appendShortBytes(dst, m.NewMetadataID)
	}
	if skip {
		return dst
	}
	return m.Columns.append(dst, v)
}

func (m *RowsMetadata) decode(r *reader) {
	flags := r.int()
	n := r.columnCount()
	*m = RowsMetadata{Skip: flags&metadataNone != 0}
	if flags&metadataPages != 0 {
		m.PagingState = r.bytes()
	}
	if flags&metadataChanged != 0 {
		m.NewMetadataID = r.shortBytes()
	}
	global := flags&metadataGlobal != 0
	if m.Skip {
		m.Columns = &ColumnSpecs{count: n, global: global && n > 0}
		return
	}
	m.Columns = r.columnSpecs(n, global)
}

func (r *reader) columnCount() int {
	n := r.int()
	if n < 0 {
		r.fail(cqlerr.Protocolf("Invalid number of columns: %d", n))
		return 0
	}
	return int(n)
}

// ColumnSpec describes a column of rows, or a marker of a prepared statement.
type ColumnSpec struct {
	Keyspace, Table, Name string
	Type                  types.Type
	Desc                  bool // a clustering column declared DESC: not sent, but part of the metadata id
}

// ColumnSpecs are the columns of rows, or the markers of a prepared statement, ready to be sent.
//
//	[<keyspace [string]><table [string]>]		if all are of one table
//	([<keyspace [string]><table [string]>]<name [string]><type [option]>)*
//
// The encoding for each version is made on first use and kept. A ColumnSpecs is immutable and may be used
// concurrently.
type ColumnSpecs struct {
	columns []ColumnSpec
	count   int  // len(columns), unless the columns are not known
	global  bool // all are of one table
	encoded [3]atomic.Pointer[[]byte]
}

// NewColumnSpecs returns specs that own the slice.
func NewColumnSpecs(columns []ColumnSpec) *ColumnSpecs {
	s := &ColumnSpecs{columns: columns, count: len(columns), global: len(columns) > 0}
	for i := range columns {
		if columns[i].Keyspace != columns[0].Keyspace || columns[i].Table != columns[0].Table {
			s.global = false
			break
		}
	}
	return s
}

// Columns returns the columns, which must not be changed. Rows without metadata have none, whatever Len returns.
func (s *ColumnSpecs) Columns() []ColumnSpec {
	if s == nil {
		return nil
	}
	return s.columns
}

// Len is the number of columns.
func (s *ColumnSpecs) Len() int {
	if s == nil {
		return 0
	}
	return s.count
}

// known reports whether the columns can be sent. Rows without metadata have only their number.
func (s *ColumnSpecs) known() bool { return s == nil || s.count == len(s.columns) }

// isGlobal reports whether there are columns and all are of one table.
func (s *ColumnSpecs) isGlobal() bool { return s != nil && s.global }

func (s *ColumnSpecs) append(dst []byte, v Version) []byte {
	if s == nil {
		return dst
	}
	cache := &s.encoded[min(v, V5)-V3]
	if b := cache.Load(); b != nil {
		return append(dst, *b...)
	}
	b := s.encode(v)
	cache.Store(&b)
	return append(dst, b...)
}

func (s *ColumnSpecs) encode(v Version) []byte {
	var b []byte
	if s.global {
		b = appendString(appendString(b, s.columns[0].Keyspace), s.columns[0].Table)
	}
	for i := range s.columns {
		c := &s.columns[i]
		if !s.global {
			b = appendString(appendString(b, c.Keyspace), c.Table)
		}
		b = appendType(appendString(b, c.Name), c.Type, v)
	}
	return b
}

// columnSpecs decodes the specs of n columns.
func (r *reader) columnSpecs(n int, global bool) *ColumnSpecs {
	s := &ColumnSpecs{count: n, global: global}
	var keyspace, table string
	if global {
		keyspace, table = r.string(), r.string()
	}
	for ; n > 0 && r.err == nil; n-- {
		c := ColumnSpec{Keyspace: keyspace, Table: table}
		if !global {
			c.Keyspace, c.Table = r.string(), r.string()
		}
		c.Name, c.Type = r.string(), r.columnType(0)
		s.columns = append(s.columns, c)
	}
	s.global = s.global && len(s.columns) > 0
	return s
}

// ResultMetadataID is the id of result columns, by which clients and servers since v5 detect that the columns of a
// prepared statement have changed. It covers names and types, not tables; a statement without rows has the id of no
// columns.
func ResultMetadataID(columns []ColumnSpec) [16]byte {
	var b []byte
	for i := range columns {
		c := &columns[i]
		b = append(append(b, c.Name...), 0)
		if c.Desc {
			b = append(b, "org.apache.cassandra.db.marshal.ReversedType("...)
		}
		b = append(b, c.Type.ClassName()...)
		if c.Desc {
			b = append(b, ')')
		}
		b = append(b, 0, 0)
	}
	return md5.Sum(b)
}
