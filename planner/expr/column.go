package expr

import (
	"encoding/binary"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// Column is a column of the row.
type Column struct{ Column *schema.Column }

// Type is the column's.
func (c *Column) Type() types.Type { return c.Column.Type }

// Eval returns the row's value.
func (c *Column) Eval(x *Context) (types.Value, error) {
	return types.Value{Bytes: x.Row[c.Column.Index]}, nil
}

func (c *Column) String() string { return c.Column.Name }

// WriteTime is WRITETIME(column): the cell's timestamp.
type WriteTime struct {
	Column *schema.Column
	Name   string // writetime or maxwritetime, which are the same for one cell
}

// Type is bigint.
func (*WriteTime) Type() types.Type { return types.BigInt }

// Eval returns the microseconds the cell was written at, or null if there is no cell.
func (w *WriteTime) Eval(x *Context) (types.Value, error) {
	if x.Row[w.Column.Index] == nil {
		return types.Value{}, nil
	}
	at := x.Cell(w.Column.Index).Timestamp
	return types.Value{Bytes: binary.BigEndian.AppendUint64(nil, uint64(at))}, nil
}

func (w *WriteTime) String() string { return w.Name + "(" + w.Column.Name + ")" }

// TTL is TTL(column): the seconds the cell has left.
type TTL struct{ Column *schema.Column }

// Type is int.
func (*TTL) Type() types.Type { return types.Int }

// Eval returns the seconds from now until the cell expires, or null if it does not.
func (t *TTL) Eval(x *Context) (types.Value, error) {
	if x.Row[t.Column.Index] == nil {
		return types.Value{}, nil
	}
	at := x.Cell(t.Column.Index).ExpiresAt
	if at == 0 {
		return types.Value{}, nil
	}
	return types.Value{Bytes: binary.BigEndian.AppendUint32(nil, uint32(at-x.Now))}, nil
}

func (t *TTL) String() string { return "ttl(" + t.Column.Name + ")" }
