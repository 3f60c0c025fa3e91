package expr

import (
	"slices"
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
	Site     *functions.Site // nil except for users' functions in SELECT lists
	Checked  bool            // the result may be no value of its type, which is refused outside of SELECT lists
}

// NewCall is a call of a function, or at once its value when it depends on constants only.
func NewCall(f *functions.Function, args []Expr) Expr {
	return computed(&Call{Function: f, Args: args})
}

// computed is the value of a call that depends on constants only; others stay as they are. One that fails does so when
// it is run.
func computed(c *Call) Expr {
	if c.Function.Volatile || c.Function.Costly && !smallArgs(c) {
		return c
	}
	e, _ := fold(c, c.Args) // calls fail when they are run
	return e
}

// Type is the result type of the function.
func (c *Call) Type() types.Type { return c.Function.Returns }

// Eval computes the arguments, then the function, unless the result is kept.
func (c *Call) Eval(x *Context) (types.Value, error) {
	if x.Kept == nil || !c.Function.Costly && !c.Function.Volatile {
		return c.compute(x)
	}
	o, found := x.Kept.calls[c]
	if !found {
		if o.value, o.err = c.compute(x); IsEnded(o.err) {
			return o.value, o.err
		}
		if x.Kept.calls == nil {
			x.Kept.calls = make(map[*Call]outcome)
		}
		x.Kept.calls[c] = o
	}
	return o.value, o.err
}

// compute computes the arguments, then the function.
func (c *Call) compute(x *Context) (types.Value, error) {
	before := len(x.args)
	defer func() {
		clear(x.args[before:])
		x.args = x.args[:before]
	}()
	for _, a := range c.Args {
		v, err := a.Eval(x)
		if err != nil {
			return types.Value{}, err
		}
		if v.Unset {
			return types.Value{}, cqlerr.Invalidf("Invalid unset value for argument in call to function %s", c.Function.Name)
		}
		x.args = append(x.args, v)
	}
	if c.Function.Costly && c.Function.User == nil && x.Env != nil && x.Env.Step != nil {
		if err := x.Env.Step(); err != nil {
			return types.Value{}, err
		}
	}
	x.call = functions.Call{Args: x.args[before:], Env: x.Env, Site: c.Site}
	v, err := c.Function.Call(&x.call)
	if err != nil {
		return types.Value{}, invalidValue(err)
	}
	if c.Checked && v.Bytes != nil {
		if c.Type().Validate(v.Bytes) != nil {
			return types.Value{}, cqlerr.Invalidf("Return of function %s (%x) is not a valid value for its declared return type %s",
				c.Function, v.Bytes, c.Type())
		}
		if c.Function.User != nil { // its sets and maps may have any order
			v.Bytes = types.NormalizeBound(c.Type(), v.Bytes)
		}
	}
	if c.Function.User != nil && x.Return != nil { // a short statement may have many calls that return long texts
		if err := x.Return(len(v.Bytes)); err != nil {
			return types.Value{}, err
		}
	}
	return v, nil
}

// String prints the function with its arguments in parentheses.
func (c *Call) String() string {
	args := make([]string, len(c.Args))
	for i, a := range c.Args {
		args[i] = a.String()
	}
	return c.Function.FullName() + "(" + strings.Join(args, ", ") + ")"
}

// call checks a call, CAST or operator whose result is for r: the result of a call by name, then the arguments.
func (c *Checker) call(t cql.Term, r Receiver) (Expr, error) {
	f, err := c.function(t, r, (*Info).Text)
	if err != nil {
		return nil, err
	}
	_, named := t.(*cql.Call)
	returns := f.Returns
	if r.Type != nil && !types.IsMultiCell(r.Type) { // results of users' functions are declared without frozen
		returns = types.Freeze(returns)
	}
	if named && !types.ValueCompatible(r.Type, returns) {
		return nil, cqlerr.Invalidf("Type error: cannot assign result of function %s (type %s) to %s "+
			"(type %s)", f.FullName(), f.Returns, r.Name, r.Type)
	}
	terms := subterms(t)
	args := make([]Expr, len(terms))
	for i, a := range terms {
		if args[i], err = c.value(a, ArgReceiver(r.Keyspace, r.Table, f, i)); err != nil {
			return nil, err
		}
	}
	c.note(f)
	return computed(&Call{Function: f, Args: args, Checked: named && (f.Returns == types.TimeUUID || f.User != nil)}), nil
}

// ArgReceiver is the receiver of a function's argument.
func ArgReceiver(keyspace, table string, f *functions.Function, i int) Receiver {
	name := "arg" + strconv.Itoa(i) + "(" + strings.ToLower(f.FullName()) + ")"
	return Receiver{Keyspace: keyspace, Table: table, Name: name, Type: f.Args[i]}
}

// selectedCall checks a call or operator among selectors. Aggregates are numbered as they are met.
func (c *Checker) selectedCall(t cql.Term) (Expr, error) {
	if call, ok := t.(*cql.Call); ok && isCountAll(call) {
		return c.aggregate(&Aggregate{}), nil
	}
	f, terms := c.of(t).function, subterms(t)
	args := make([]Expr, len(terms))
	for i, a := range terms {
		var err error
		if args[i], err = c.selector(a, f.Args[i]); err != nil {
			return nil, err
		}
	}
	c.note(f)
	if !f.IsAggregate() && f.User != nil {
		return &Call{Function: f, Args: args, Site: newSite(args)}, nil
	}
	if !f.IsAggregate() {
		return NewCall(f, args), nil
	}
	if slices.ContainsFunc(args, containsAggregate) {
		return nil, cqlerr.Invalidf("aggregate functions cannot be used as arguments of aggregate functions")
	}
	return c.aggregate(&Aggregate{Function: f, Args: args}), nil
}

// newSite describes a call that some arguments are constants of, or is nil.
func newSite(args []Expr) *functions.Site {
	if !slices.ContainsFunc(args, Rowless) {
		return nil
	}
	s := &functions.Site{Constant: make([]bool, len(args))}
	for i, a := range args {
		s.Constant[i] = Rowless(a)
	}
	return s
}

// selectedCast checks CAST of a selector, which does nothing to a value that has the type already. Cassandra does not
// see that a descending column has it, and looks for a function.
func (c *Checker) selectedCast(t *cql.Cast) (Expr, error) {
	e, err := c.selector(t.Value, nil)
	if err != nil {
		return nil, err
	}
	to, err := c.Names.TypeOf(c.Keyspace, t.Type)
	if err != nil {
		return nil, err
	}
	facts := c.of(t)
	if types.Equal(to, e.Type()) && !c.descends(t.Value) {
		facts.same = true
		return e, nil
	}
	if !functions.CanCast(t.Type.String()) {
		return nil, c.cannotCast(t)
	}
	name, args := "system."+functions.CastName(t.Type.String()), []functions.Arg{{Type: e.Type()}}
	if facts.function, err = functions.ResolveArgs(name, args, nil); err != nil {
		return nil, err
	}
	return NewCall(facts.function, []Expr{e}), nil
}

// cannotCast names the first column that is selected anywhere, as Cassandra does; where there is none that fails.
func (c *Checker) cannotCast(t *cql.Cast) error {
	name := c.Name(t.Value)
	if c.firstColumn != nil {
		name = c.firstColumn.Name
	}
	return cqlerr.Invalidf("%s cannot be cast to %s", name, t.Type)
}
