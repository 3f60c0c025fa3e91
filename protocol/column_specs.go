package protocol

import (
	"sync/atomic"

	"github.com/cqld/cqld/cql/types"
)

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
// They are encoded when a version is first asked for; that encoding is kept and shared. A ColumnSpecs does
// not change and may be used concurrently.
type ColumnSpecs struct {
	columns []ColumnSpec
	count   int  // len(columns), unless the columns are not known
	global  bool // all are of one table
	encoded [3]atomic.Pointer[[]byte]
}

// NewColumnSpecs prepares columns for being sent. The slice belongs to the result.
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

// Columns returns the columns, which are not to be changed. Of rows that came without metadata there are
// none, whatever Len says.
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

// known reports whether the columns can be sent. Those of rows that came without metadata are only counted.
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
