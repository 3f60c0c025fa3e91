package expr

import (
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// MaskedColumn is a column as its mask shows it. Masks that users have written cannot be called.
func MaskedColumn(c *schema.Column, m *schema.Mask) (Expr, error) {
	if m == nil {
		return &Column{Column: c}, nil
	}
	if m.Keyspace != "system" {
		return nil, NotSupported("Calling " + m.Keyspace + "." + m.Function)
	}
	args := []functions.Arg{{Text: c.Name, Type: c.Type}}
	values := []Expr{&Column{Column: c}}
	for _, a := range m.Args {
		args = append(args, functions.Arg{Text: a.Text(), Type: a.Type})
		values = append(values, &Constant{Of: a.Type, Value: types.Value{Bytes: a.Value}})
	}
	f, err := functions.ResolveArgs("system."+m.Function, args, c.Type)
	if err != nil {
		return nil, err
	}
	return &Call{Function: f, Args: values}, nil
}
