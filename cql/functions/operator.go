package functions

import (
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// operatorNames has the names that the functions of the operators have in Cassandra.
var operatorNames = map[byte]string{'+': "_add", '-': "_substract", '*': "_multiply", '/': "_divide", '%': "_modulo"}

// negation is the name of the function of the minus before one value.
const negation = "_negate"

// OperatorName is the name of the function of an operator; the minus before one value is unary.
func OperatorName(op byte, unary bool) string {
	if unary {
		return negation
	}
	return operatorNames[op]
}

// operatorOf is the operator of a function of two values.
func operatorOf(name string) (op byte, ok bool) {
	for op, known := range operatorNames {
		if known == name {
			return op, true
		}
	}
	return 0, false
}

// operatorFunctions are the functions of + - * / % and of the minus before a value.
var operatorFunctions = func() []Function {
	var fs []Function
	for _, left := range numeric {
		for _, op := range []byte("+-*/%") {
			for _, right := range numeric {
				fs = append(fs, arithmetic(op, left, right))
			}
		}
		fs = append(fs, negate(left))
	}
	for _, op := range []byte("+-") {
		fs = append(fs, moved(op, types.Timestamp), moved(op, types.Date))
	}
	for _, left := range []types.Type{types.Text, types.ASCII} {
		for _, right := range []types.Type{types.Text, types.ASCII} {
			fs = append(fs, concatenation(left, right))
		}
	}
	return fs
}()

// operation declares an operator for values of two types. A null among them gives null, as does an empty value that
// has no meaning. An error is reported to the client as the failure of a function.
func operation(op byte, left, right, result types.Type, compute func(a, b []byte) ([]byte, error)) Function {
	name := operatorNames[op]
	sign := string(op)
	return Function{
		Name: name, Args: []types.Type{left, right}, Returns: result,
		Doc:    left.String() + " " + sign + " " + right.String() + ".",
		Column: func(args []string) string { return args[0] + " " + sign + " " + args[1] },
		Costly: isUnbounded(left, right),
		Call: func(c *Call) (types.Value, error) {
			if isNull(left, c.Args[0].Bytes) || isNull(right, c.Args[1].Bytes) {
				return types.Value{}, nil
			}
			b, err := compute(c.Args[0].Bytes, c.Args[1].Bytes)
			if err != nil {
				return types.Value{}, cqlerr.FunctionFailed("system", name, []string{left.String(), right.String()},
					"the operation '"+left.String()+" "+sign+" "+right.String()+"' failed: "+err.Error())
			}
			return types.Value{Bytes: b}, nil
		},
	}
}

// isNull reports whether a value of type t is null or nothing else to a function.
func isNull(t types.Type, b []byte) bool {
	return b == nil || len(b) == 0 && types.EmptyIsNull(t)
}

// concatenation declares + of two strings.
func concatenation(left, right types.Type) Function {
	result := types.Text
	if left == types.ASCII && right == types.ASCII {
		result = types.ASCII
	}
	return operation('+', left, right, result, func(a, b []byte) ([]byte, error) {
		if len(a)+len(b) > maxText {
			return nil, cqlerr.Invalidf("texts of more than %d bytes are not put together by cqld", maxText)
		}
		return append(append(make([]byte, 0, len(a)+len(b)), a...), b...), nil
	})
}

// chooseOperator is ResolveArgs for the function of an operator with two sides.
func chooseOperator(op byte, name string, args []Arg, receiver types.Type) (*Function, error) {
	fitting, exact := matching(byName[name], args, receiver)
	switch {
	case exact != nil:
		return exact, nil
	case len(fitting) == 0:
		return nil, cqlerr.Invalidf("the '%c' operation is not supported between %s and %s", op, args[0].Text, args[1].Text)
	case len(fitting) == 1:
		return fitting[0], nil
	}
	if receiver != nil && !args[0].Marker && !args[1].Marker {
		i := slices.IndexFunc(fitting, func(f *Function) bool {
			return types.Equal(f.Args[0], receiver) && types.Equal(f.Args[1], receiver)
		})
		if i >= 0 {
			return fitting[i], nil
		}
	}
	return nil, cqlerr.Invalidf("Ambiguous '%c' operation with args %s and %s: use type hint to disambiguate, "+
		"example '(int) ?'", op, args[0].Text, args[1].Text)
}
