package expr

import (
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

// String is the name of the column.
func (c *Column) String() string { return c.Column.Name }
