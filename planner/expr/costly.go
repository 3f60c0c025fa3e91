package expr

import (
	"slices"

	"github.com/cqld/cqld/cql/types"
)

// Costly reports whether an expression may take long, as it computes with values that can be of any size. Whoever must
// not wait does not evaluate it.
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

// The most that costly functions may be given to be computed when a statement is planned, which nobody can end.
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
