package expr

import (
	"slices"

	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/types"
)

// Costly reports whether an expression may take long, because it computes with values of any size. Code that must
// not block does not evaluate it.
func Costly(e Expr) bool {
	switch e := e.(type) {
	case nil:
		return false
	case *Call:
		if e.Function.Costly {
			return true
		}
	case *JSONRow:
		if slices.ContainsFunc(e.Values, func(v Expr) bool { return v.Type().FixedLength() == 0 }) {
			return true
		}
	case *Key:
		return e != nil && Costly(e.Expr)
	case *Slice, *JSONColumn:
		return true
	}
	return slices.ContainsFunc(Parts(e), Costly)
}

// The largest arguments with which costly functions are computed when a statement is planned: planning cannot be ended.
const (
	smallValue = 64   // bytes of all arguments
	smallScale = 1000 // of decimals, whose digits a sum has between their exponents
)

// smallArgs reports whether a function has constants as arguments, with which it takes little. exp makes large values
// of small ones.
func smallArgs(c *Call) bool {
	if c.Function.Name == "exp" {
		return false
	}
	n := 0
	for _, a := range c.Args {
		constant, ok := a.(*Constant)
		if !ok {
			return false
		}
		n += len(constant.Value.Bytes)
		if constant.Of == types.Decimal {
			if _, scale := types.DecodeDecimal(constant.Value.Bytes); scale > smallScale || scale < -smallScale {
				return false
			}
		}
	}
	return n <= smallValue
}

// Beforehand are the parts of a selected expression that no row matters to. They are computed when an execution begins:
// their errors are found even if there are no rows.
func Beforehand(e Expr) (all []Expr) {
	switch e := e.(type) {
	case *Constant:
		return nil
	case *Marker, *Key:
		return []Expr{e}
	case *Call:
		if Rowless(e) {
			return []Expr{e}
		}
	}
	for _, p := range Parts(e) {
		all = append(all, Beforehand(p)...)
	}
	if c, ok := e.(*Call); ok && c.Function.Prepare != nil {
		for i, a := range c.Args {
			if Rowless(a) {
				all = append(all, &argument{c, i})
			}
		}
	}
	return all
}

// Rowless reports whether the value of an expression is the same for all rows.
func Rowless(e Expr) bool {
	switch e := e.(type) {
	case *Constant, *Marker:
		return true
	case *Call:
		if e.Function.Volatile {
			return false
		}
	case *Composed, *Hinted:
	default:
		return false
	}
	for _, p := range Parts(e) {
		if !Rowless(p) {
			return false
		}
	}
	return true
}

// argument is an argument of a call that is the same for all rows, while others are not. It is evaluated for the
// function's errors.
type argument struct {
	call  *Call
	index int
}

// Type is that of the argument.
func (a *argument) Type() types.Type { return a.call.Args[a.index].Type() }

// Eval returns the value, unless the function refuses it.
func (a *argument) Eval(x *Context) (types.Value, error) {
	v, err := a.call.Args[a.index].Eval(x)
	if err == nil {
		err = a.call.Function.Prepare(a.index, v)
	}
	return v, err
}

// String prints the argument.
func (a *argument) String() string { return a.call.Args[a.index].String() }

// IsVolatile reports whether an expression calls a function that may give another value each time.
func IsVolatile(e Expr) bool {
	if c, ok := e.(*Call); ok && c.Function.Volatile {
		return true
	}
	return slices.ContainsFunc(Parts(e), IsVolatile)
}

// UserFunction is the first function of a user that an expression calls; nil: none.
func UserFunction(e Expr) *functions.Function {
	if c, ok := e.(*Call); ok && c.Function.User != nil {
		return c.Function
	}
	for _, p := range Parts(e) {
		if f := UserFunction(p); f != nil {
			return f
		}
	}
	return nil
}
