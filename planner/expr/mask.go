package expr

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/types"
)

// MaskFunction finds the function of a mask for values of a type, which are its first argument; nil: there is none of that
// name.
func (b *Binder) MaskFunction(c *cql.Call, masked types.Type) (*functions.Function, error) {
	if !known(c.Function) && b.users(c.Function) == nil {
		return nil, nil
	}
	value := functions.Arg{Text: types.ExactClassName(masked), Type: masked}
	return b.Choose(c.Args, Text, func(args []functions.Arg) (*functions.Function, error) {
		return b.Resolve(c.Function, append([]functions.Arg{value}, args...), masked)
	})
}
