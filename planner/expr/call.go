package expr

import (
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/types"
)

// Call is a call of a scalar function.
type Call struct {
	Function *functions.Function
	Args     []Expr
	Checked  bool // the result may be no value of its type, which is refused outside of SELECT lists
}

// NewCall is a call in a SELECT list, or at once its value when it depends on constants only. One that fails does so
// when it is run.
func NewCall(f *functions.Function, args []Expr) Expr {
	return computed(&Call{Function: f, Args: args})
}

// computed is the value of a call that depends on constants only; others stay as they are.
func computed(c *Call) Expr {
	if c.Function.Volatile || c.Function.Costly && !smallArgs(c) {
		return c
	}
	e, _ := fold(c, c.Args) // calls fail when they are run
	return e
}

// Type is what the function returns.
func (c *Call) Type() types.Type { return c.Function.Returns }

// Eval computes the arguments, then the function.
func (c *Call) Eval(x *Context) (types.Value, error) {
	args := make([]types.Value, len(c.Args))
	for i, a := range c.Args {
		v, err := a.Eval(x)
		if err != nil {
			return types.Value{}, err
		}
		if v.Unset {
			return types.Value{}, cqlerr.Invalidf("Invalid unset value for argument in call to function %s", c.Function.Name)
		}
		args[i] = v
	}
	if c.Function.Costly && x.Env != nil && x.Env.Step != nil {
		if err := x.Env.Step(); err != nil {
			return types.Value{}, err
		}
	}
	v, err := c.Function.Call(&functions.Call{Args: args, Env: x.Env})
	if err != nil {
		return types.Value{}, invalidValue(err)
	}
	if c.Checked && v.Bytes != nil && c.Type().Validate(v.Bytes) != nil {
		return types.Value{}, cqlerr.Invalidf("Return of function %s (%x) is not a valid value for its declared return type %s",
			c.Function, v.Bytes, c.Type())
	}
	return v, nil
}

// String prints the function with its arguments in parentheses.
func (c *Call) String() string {
	args := make([]string, len(c.Args))
	for i, a := range c.Args {
		args[i] = a.String()
	}
	return "system." + c.Function.Name + "(" + strings.Join(args, ", ") + ")"
}

// call binds a function call on the right of a relation or in VALUES.
func (b *Binder) call(c *cql.Call, r Receiver) (Expr, error) {
	f, err := b.resolve(c, r.Type)
	if err != nil {
		return nil, err
	}
	if !types.ValueCompatible(r.Type, f.Returns) {
		return nil, cqlerr.Invalidf("Type error: cannot assign result of function %s (type %s) to %s "+
			"(type %s)", f.FullName(), f.Returns, r.Name, r.Type)
	}
	args := make([]Expr, len(c.Args))
	for i, a := range c.Args {
		if args[i], err = b.Bind(a, ArgReceiver(r.Keyspace, r.Table, f, i)); err != nil {
			return nil, err
		}
	}
	if err := CheckNative(f); err != nil {
		return nil, err
	}
	return computed(&Call{Function: f, Args: args, Checked: f.Returns == types.TimeUUID}), nil
}

// ArgReceiver is the receiver of a function's argument.
func ArgReceiver(keyspace, table string, f *functions.Function, i int) Receiver {
	name := "arg" + strconv.Itoa(i) + "(" + strings.ToLower(f.FullName()) + ")"
	return Receiver{Keyspace: keyspace, Table: table, Name: name, Type: f.Args[i]}
}

// resolve finds the function of a call whose arguments are terms and whose result is for a receiver of that
// type. Calls among the arguments fit, while errors in them are left to Bind.
func (b *Binder) resolve(c *cql.Call, receiver types.Type) (*functions.Function, error) {
	if isAggregateName(c.Function) && b.users(c.Function) == nil {
		return nil, errAggregate()
	}
	if !known(c.Function) && b.users(c.Function) == nil {
		return nil, cqlerr.Invalidf("Unknown function %s called", functionName(c.Function))
	}
	f, err := b.Choose(c.Args, Text, func(args []functions.Arg) (*functions.Function, error) {
		return b.Resolve(c.Function, args, receiver)
	})
	if err == nil && f.IsAggregate() {
		return nil, errAggregate()
	}
	return f, err
}

func errAggregate() error {
	return cqlerr.Invalidf("Aggregation function are not supported in the where clause")
}

// users are the users' functions of a name.
func (b *Binder) users(name cql.QualifiedName) []*functions.Function {
	if b.Users == nil {
		return nil
	}
	return b.Users(name)
}

// CheckNative refuses to call a user's function, which nobody can run.
func CheckNative(f *functions.Function) error {
	if f.User == nil {
		return nil
	}
	return NotSupported("Calling " + f.FullName())
}

// IsNative reports whether a name is one of the server's own functions, not a user's.
func IsNative(name cql.QualifiedName) bool { return name.Keyspace == "" || name.Keyspace == "system" }

// isAggregateName reports whether a native aggregate has that name.
func isAggregateName(name cql.QualifiedName) bool {
	switch name.Name {
	case "count", "max", "min", "sum", "avg":
		return IsNative(name)
	}
	return false
}

// known reports whether there is a native function of that name.
func known(name cql.QualifiedName) bool { return IsNative(name) && functions.Known(name.Name) }

// functionName is a function's name as error texts show it: with the keyspace if one was written, without quotes.
func functionName(name cql.QualifiedName) string {
	if name.Keyspace == "" {
		return name.Name
	}
	return name.Keyspace + "." + name.Name
}

// Resolve finds the function of that name for such arguments and a receiver, nil in a SELECT list. token is the one over
// the partition key of the table.
func (b *Binder) Resolve(name cql.QualifiedName, args []functions.Arg, receiver types.Type) (*functions.Function, error) {
	t := b.Table
	if users := b.users(name); users != nil {
		return functions.ResolveWith(users, name.Keyspace, name.Name, args, receiver)
	}
	if !known(name) {
		return nil, cqlerr.Invalidf("Unknown function '%s'", functionName(name))
	}
	if name.Name != "token" || t == nil {
		return functions.ResolveArgs(functionName(name), args, receiver)
	}
	key := make([]types.Type, len(t.PartitionKey))
	for i, c := range t.PartitionKey {
		key[i] = c.Type
	}
	f := functions.Token(key)
	return f, functions.CheckArgs(f, args)
}

// likelyType is the type that a literal has when nothing around it says otherwise.
func likelyType(l *cql.Literal) types.Type {
	switch l.Kind {
	case cql.StringLiteral:
		if types.ASCII.Validate([]byte(l.Text)) == nil {
			return types.ASCII
		}
		return types.Text
	case cql.IntegerLiteral:
		for _, t := range [...]types.Type{types.Int, types.BigInt} {
			if _, err := t.ParseLiteral(types.IntegerLiteral, l.Text); err == nil {
				return t
			}
		}
		return types.VarInt
	case cql.FloatLiteral:
		return likelyFraction(l.Text)
	case cql.BooleanLiteral:
		return types.Boolean
	case cql.DurationLiteral:
		return types.Duration
	case cql.UUIDLiteral:
		if _, err := types.TimeUUID.ParseLiteral(types.UUIDLiteral, l.Text); err == nil {
			return types.TimeUUID
		}
		return types.UUID
	}
	return types.TinyInt // of hex literals, of which Cassandra thinks so whatever their length
}

// likelyFraction is double, if a double printed is the same number, else decimal.
func likelyFraction(text string) types.Type {
	exact, err := types.Decimal.ParseLiteral(types.FloatLiteral, text)
	if err != nil {
		return types.Double // NaN and the infinite
	}
	double, err := types.Double.ParseLiteral(types.FloatLiteral, text)
	if err != nil {
		return types.Decimal
	}
	printed, err := types.Decimal.ParseLiteral(types.FloatLiteral, types.Double.Format(double))
	if err != nil || types.Decimal.Compare(exact, printed) != 0 {
		return types.Decimal
	}
	return types.Double
}
