package expr

import (
	"errors"
	"strconv"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
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

// Env is the input of functions besides their arguments.
type Env = functions.Env

// Ended is the error of an execution that has to end.
type Ended = functions.Ended

// Context is the input of expressions in one execution.
type Context struct {
	Values []types.Value         // of the statement's markers
	Env    *Env                  // nil where no function is called
	Step   func() error          // called often by long work: an error ends it; nil: nothing bounds it
	Hold   func(n int) error     // takes memory until the execution is over; nil: memory is not counted
	Return func(n int) error     // takes memory for what a user's function returns; nil: it is not counted
	Row    [][]byte              // by schema.Column.Index, in selections
	Cell   func(column int) Cell // of that row
	Now    int64                 // seconds since 1970, which TTLs are counted from
	JSON   []types.Value         // of a bound INSERT JSON, by schema.Column.Index

	Results []types.Value // of the aggregates, by Aggregate.Index
	Kept    *Kept         // nil: each evaluation computes all values

	args []types.Value // a stack of the arguments of calls under way
	call functions.Call
}

// Kept has the results of calls of one statement with its bound values, and the columns of its INSERT JSON. They are
// computed when they are evaluated first. A conditional write evaluates its values twice, for example: before the store
// decides, because `SET v = f(?)` may take a second, and again when it decides.
type Kept struct {
	calls map[*Call]outcome
	json  []types.Value
}

// outcome is the value or the error of a call.
type outcome struct {
	value types.Value
	err   error
}

// Receiver gets a value: a column, an argument, a limit. A bind marker is named after it.
type Receiver struct {
	Keyspace, Table, Name string
	Type                  types.Type
	Column                *schema.Column // when it is this column itself
}

// ColumnReceiver is a column as a receiver.
func ColumnReceiver(t *schema.Table, c *schema.Column) Receiver {
	return Receiver{Keyspace: t.Keyspace, Table: t.Name, Name: c.Name, Type: c.Type, Column: c}
}

// Part is a part of r with a different name: value(c), in(c), c[0].
func (r Receiver) Part(name string, t types.Type) Receiver {
	return Receiver{Keyspace: r.Keyspace, Table: r.Table, Name: name, Type: t}
}

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

// Field is a field of a value of a user type.
type Field struct {
	Of    Expr
	Index int
}

// userType is the type that the field is one of.
func (f *Field) userType() *types.UserType { return f.Of.Type().(*types.UserType) }

// Type is the field's.
func (f *Field) Type() types.Type { return f.userType().Fields[f.Index].Type }

// Eval returns null for a field of null, and for one that was added when the value was there already.
func (f *Field) Eval(x *Context) (types.Value, error) {
	of, err := f.Of.Eval(x)
	if err != nil || of.Bytes == nil {
		return types.Value{}, err
	}
	return types.Value{Bytes: types.TupleFields(of.Bytes, f.Index+1)[f.Index]}, nil
}

// String prints of.field.
func (f *Field) String() string { return f.Of.String() + "." + f.userType().Fields[f.Index].Name }

// Marker is a bind marker: its value comes with each execution.
type Marker struct {
	Index int
	Of    types.Type
}

// Type is the type that the receiver has.
func (m *Marker) Type() types.Type { return m.Of }

// Eval returns the bound value, once it has been checked against the type, as it is stored: clients may send elements
// of sets and maps in any order. It may be null or unset.
func (m *Marker) Eval(x *Context) (types.Value, error) {
	v := x.Values[m.Index]
	if v.Bytes == nil {
		return v, nil
	}
	if err := types.ValidateBound(m.Of, v.Bytes); err != nil {
		return types.Value{}, invalidValue(err)
	}
	v.Bytes = types.NormalizeBound(m.Of, v.Bytes)
	return v, nil
}

// String prints ? and the index of the marker.
func (m *Marker) String() string { return "?" + strconv.Itoa(m.Index) }

// Parts are the expressions that e is computed from.
func Parts(e Expr) []Expr {
	switch e := e.(type) {
	case *Call:
		return e.Args
	case *Aggregate:
		return e.Args
	case *Composed:
		return e.Parts
	case *JSONRow:
		return e.Values
	case *Hinted:
		return []Expr{e.Value}
	case *Stamp:
		return []Expr{e.Of}
	case *Field:
		return []Expr{e.Of}
	case *Element:
		return []Expr{e.Of, e.Key}
	case *Slice:
		parts := []Expr{e.Of}
		for _, bound := range []*Key{e.From, e.To} {
			if bound != nil {
				parts = append(parts, bound)
			}
		}
		return parts
	}
	return nil
}

// IsEnded reports whether an error ends the execution, rather than being about the values that are computed.
func IsEnded(err error) bool {
	ended := (*functions.Ended)(nil)
	return errors.As(err, &ended)
}

// invalidValue is the client's error for bytes or text that are no value of a type.
func invalidValue(err error) error {
	if _, known := cqlerr.As(err); known {
		return err
	}
	if IsEnded(err) {
		return err
	}
	return cqlerr.Invalidf("%s", err.Error())
}

// NotSupported is the answer to syntax of CQL that is understood but not built.
func NotSupported(what string) error {
	return cqlerr.Invalidf("%s is not supported by cqld yet", what)
}

// MaskedColumn is a column as its mask shows it.
func (k *Checker) MaskedColumn(c *schema.Column, m *schema.Mask) (Expr, error) {
	if m == nil {
		return &Column{Column: c}, nil
	}
	args := []functions.Arg{{Text: c.Name, Type: c.Type}}
	values := []Expr{&Column{Column: c}}
	for _, a := range m.Args {
		args = append(args, functions.Arg{Text: a.Text(), Type: a.Type})
		values = append(values, &Constant{Of: a.Type, Value: types.Value{Bytes: a.Value}})
	}
	name := cql.QualifiedName{Keyspace: m.Keyspace, Name: m.Function}
	f, err := k.named(name, k.users(name), args, c.Type)
	if err != nil {
		return nil, err
	}
	k.note(f)
	return &Call{Function: f, Args: values}, nil
}
