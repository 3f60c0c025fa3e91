package expr

import (
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// Expr is a typed expression. Expressions never change and are shared between executions.
type Expr interface {
	// Type is the type of all its values.
	Type() types.Type

	// Eval computes the value. The bytes may belong to the context: to a bound value or the row.
	Eval(x *Context) (types.Value, error)

	// String is the expression in words of CQL, for plans that print themselves.
	String() string
}

// Env is what functions may know besides their arguments.
type Env = functions.Env

// Ended is the error of an execution that has to end.
type Ended = functions.Ended

// Context is what one execution gives its expressions.
type Context struct {
	Values []types.Value         // of the statement's markers
	Env    *Env                  // nil where no function is called
	Step   func() error          // called often by what takes long: an error ends it; nil: nobody waits
	Hold   func(n int) error     // takes memory until the execution is over; nil: nobody counts it
	Row    [][]byte              // by schema.Column.Index, in selections
	Cell   func(column int) Cell // of that row
	Now    int64                 // seconds since 1970, which TTLs are counted from
	JSON   []types.Value         // by schema.Column.Index, what a bound INSERT JSON has for each column

	Results []types.Value // of the aggregates, by Aggregate.Index
}

// Receiver is what a value is for: a column, an argument, a limit. A bind marker is named after it.
type Receiver struct {
	Keyspace, Table, Name string
	Type                  types.Type
	Column                *schema.Column // when it is this column itself
}

// ColumnReceiver is a column as a receiver.
func ColumnReceiver(t *schema.Table, c *schema.Column) Receiver {
	return Receiver{Keyspace: t.Keyspace, Table: t.Name, Name: c.Name, Type: c.Type, Column: c}
}

// Part is a part of r under a name of its own: value(c), in(c), c[0].
func (r Receiver) Part(name string, t types.Type) Receiver {
	return Receiver{Keyspace: r.Keyspace, Table: r.Table, Name: name, Type: t}
}
