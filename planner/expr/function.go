package expr

import (
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/types"
)

// textOf makes the texts of arguments for an error; nil: the error is dropped.
type textOf func(*Info, cql.Term) string

// function finds the function of a call, CAST or operator whose result is for a receiver. Calls among the arguments
// fit: their errors are found when they are checked.
func (c *Checker) function(t cql.Term, r Receiver, text textOf) (*functions.Function, error) {
	switch t := t.(type) {
	case *cql.Cast:
		name := functions.CastName(t.Type.String())
		if !functions.CanCast(t.Type.String()) {
			return nil, cqlerr.Invalidf("Unknown function system.%s called", name)
		}
		return c.native(name, t, r, text)
	case *cql.Arithmetic:
		return c.native(functions.OperatorName(t.Op, t.Left == nil), t, r, text)
	}
	return c.called(t.(*cql.Call), r.Type, text)
}

// native finds a function that has special syntax.
func (c *Checker) native(name string, t cql.Term, r Receiver, text textOf) (*functions.Function, error) {
	return c.choose(subterms(t), text, func(args []functions.Arg) (*functions.Function, error) {
		for i := range args {
			args[i].Marker = args[i].Marker || r.Column != nil && r.Column.Desc
		}
		return functions.ResolveArgs("system."+name, args, r.Type)
	})
}

// called finds a function that is called by its name. Aggregates are for selectors only.
func (c *Checker) called(t *cql.Call, receiver types.Type, text textOf) (*functions.Function, error) {
	users := c.users(t.Function)
	switch {
	case c.Selects || users != nil:
	case isAggregateName(t.Function):
		return nil, errAggregate()
	case !isKnown(t.Function):
		return nil, cqlerr.Invalidf("Unknown function %s called", functionName(t.Function))
	}
	f, err := c.choose(t.Args, text, func(args []functions.Arg) (*functions.Function, error) {
		return c.named(t.Function, users, args, receiver)
	})
	if err == nil && f.IsAggregate() && !c.Selects {
		return nil, errAggregate()
	}
	return f, err
}

func errAggregate() error {
	return cqlerr.Invalidf("Aggregation function are not supported in the where clause")
}

// MaskFunction finds the function of a mask for values of a type, which are its first argument; nil: there is none of
// that name.
func (c *Checker) MaskFunction(call *cql.Call, masked types.Type) (*functions.Function, error) {
	users := c.users(call.Function)
	if users == nil && !isKnown(call.Function) {
		return nil, nil
	}
	value := functions.Arg{Text: types.ExactClassName(masked), Type: masked}
	return c.choose(call.Args, (*Info).Text, func(args []functions.Arg) (*functions.Function, error) {
		return c.named(call.Function, users, append([]functions.Arg{value}, args...), masked)
	})
}

// named finds the function of a name for such arguments and a receiver. token is the one over the partition key of the
// table.
func (c *Checker) named(
	name cql.QualifiedName, users []*functions.Function, args []functions.Arg, receiver types.Type,
) (*functions.Function, error) {
	switch {
	case users != nil:
		return functions.ResolveWith(users, name.Keyspace, name.Name, args, receiver)
	case !isKnown(name):
		return nil, cqlerr.Invalidf("Unknown function '%s'", functionName(name))
	case name.Name != "token" || c.Table == nil:
		return functions.ResolveArgs(functionName(name), args, receiver)
	}
	key := make([]types.Type, len(c.Table.PartitionKey))
	for i, column := range c.Table.PartitionKey {
		key[i] = column.Type
	}
	f := functions.Token(key)
	return f, functions.CheckArgs(f, args)
}

// choose finds a function for arguments. Their texts are made only for an error that is not dropped, because texts of
// deep terms are long.
func (c *Checker) choose(
	terms []cql.Term, text textOf, resolve func([]functions.Arg) (*functions.Function, error),
) (*functions.Function, error) {
	args := make([]functions.Arg, len(terms))
	var misplaced error // of an argument that is valid nowhere
	for i, t := range terms {
		if h, ok := t.(*cql.TypeHint); ok {
			if _, err := c.hinted(h); err != nil {
				return nil, err
			}
		}
		args[i] = c.arg(t)
		args[i].Fits = func(to types.Type) functions.Fit {
			fit, err := c.fit(t, to)
			if misplaced == nil {
				misplaced = err
			}
			return fit
		}
	}
	f, err := resolve(args)
	switch {
	case misplaced != nil:
		return nil, misplaced
	case err == nil || text == nil:
		return f, err
	}
	for i, t := range terms {
		args[i].Text = text(c.Info, t)
	}
	return resolve(args)
}

// arg is a term as overload choice sees it, without its text.
func (c *Checker) arg(t cql.Term) functions.Arg {
	_, marker := t.(*cql.Marker)
	arg := functions.Arg{Type: c.exactType(t), Likely: c.likelyType(t), Marker: marker, Desc: c.descends(t)}
	switch t := t.(type) {
	case *cql.ListLiteral:
		arg.Composed = true
		arg.List, arg.Elements = c.Selects, t.Elements.Len()
	case *cql.SetLiteral, *cql.MapLiteral, *cql.UserTypeLiteral:
		arg.Composed = true
	case *cql.TupleLiteral:
		arg.Composed = len(t.Elements) > 1
	}
	return arg
}

// note adds a function of a user to those that are called.
func (i *Info) note(f *functions.Function) {
	if f.User != nil && !slices.Contains(i.Called, f) {
		i.Called = append(i.Called, f)
	}
}

// isNative reports whether a name is one of the server's own functions, not a user's.
func isNative(name cql.QualifiedName) bool { return name.Keyspace == "" || name.Keyspace == "system" }

// isAggregateName reports whether a native aggregate has that name.
func isAggregateName(name cql.QualifiedName) bool {
	switch name.Name {
	case "count", "max", "min", "sum", "avg":
		return isNative(name)
	}
	return false
}

// isKnown reports whether there is a native function of that name.
func isKnown(name cql.QualifiedName) bool { return isNative(name) && functions.Known(name.Name) }

// functionName is a function's name as error texts show it: with the keyspace if one was written, without quotes.
func functionName(name cql.QualifiedName) string {
	if name.Keyspace == "" {
		return name.Name
	}
	return name.Keyspace + "." + name.Name
}
