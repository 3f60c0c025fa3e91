// Package functions has the native functions, one declaration each, grouped in a file per family.
//
// A Function is found by Resolve for a name and the types of its arguments. It is pure: the clock and the source of
// randomness that it may use are in Env. Aggregates are declared the same way and make a state for each group of
// rows. The families are listed in native.go; token, which depends on a table, is made by Token. Of users' functions
// only the signatures are known; overloads are chosen from native and users' functions alike.
//
// Specification: the CQL reference's chapter on functions; where it leaves something open, Cassandra 5.0 was tried.
package functions

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/types"
)

// natives has every native function with fixed types, family by family.
var natives = slices.Concat(uuidFunctions, timeFunctions, floorFunctions, blobFunctions, aggregateFunctions,
	mathFunctions)

// byName has the overloads of each name.
var byName = func() map[string][]*Function {
	m := map[string][]*Function{}
	for _, fs := range [][]Function{natives, operatorFunctions, castFunctions} {
		for i := range fs {
			m[fs[i].Name] = append(m[fs[i].Name], &fs[i])
		}
	}
	return m
}()

// All returns the native functions with fixed types, for listings.
func All() []*Function {
	all := make([]*Function, len(natives))
	for i := range natives {
		all[i] = &natives[i]
	}
	return all
}

// withOldName adds to each function the same one under the name it had before names got underscores.
func withOldName(fs []Function) []Function {
	var all []Function
	for _, f := range fs {
		all = append(all, f)
		old := oldName(f.Name)
		if old == f.Name {
			continue
		}
		examples := make([]Example, len(f.Examples))
		for i, e := range f.Examples {
			examples[i] = Example{Call: strings.Replace(e.Call, f.Name+"(", old+"(", 1), Result: e.Result}
		}
		f.Name, f.Examples = old, examples
		all = append(all, f)
	}
	return all
}

// oldName leaves the underscores out.
func oldName(name string) string {
	return string(slices.DeleteFunc([]byte(name), func(c byte) bool { return c == '_' }))
}

// Token is the function token of a table whose partition key has columns of those types: the place of a
// partition key on the ring.
func Token(key []types.Type) *Function {
	return &Function{
		Name: "token", Args: key, Returns: types.BigInt,
		Doc: "The token of a partition key.",
		Call: func(c *Call) (types.Value, error) {
			var composite []byte
			for _, arg := range c.Args {
				if arg.Bytes == nil {
					return types.Value{}, nil
				}
				if len(c.Args) == 1 {
					composite = arg.Bytes
					break
				}
				composite = types.AppendCompositeKey(composite, arg.Bytes)
			}
			return types.Value{Bytes: types.EncodeBigInt(types.Token(composite))}, nil
		},
	}
}

// uuidFunctions make UUIDs: fresh ones, and the bounds of a time.
var uuidFunctions = append(withOldName([]Function{
	{
		Name: "current_timeuuid", Returns: types.TimeUUID, Volatile: true,
		Doc:  "A fresh timeuuid, as now gives.",
		Call: environment(func(e *Env) []byte { u := e.TimeUUID(); return u[:] }),
		Examples: []Example{
			{"current_timeuuid()", "896e34e0-2d0c-11ea-8080-808080808080"},
		},
	},
	{
		Name: "min_timeuuid", Args: []types.Type{types.Timestamp}, Returns: types.TimeUUID,
		Doc: "The least timeuuid of a millisecond, to compare with.",
		Call: strict(types.Timestamp, func(b []byte) []byte {
			u := types.MinTimeUUID(types.DecodeBigInt(b))
			return u[:]
		}),
		Examples: []Example{
			{"min_timeuuid('2020-01-01')", "a747c000-2c29-11ea-8080-808080808080"},
			{"min_timeuuid(0)", "13814000-1dd2-11b2-8080-808080808080"},
			{"min_timeuuid(-12219292800001)", "ffffd8f0-ffff-ffff-8080-808080808080"},
			{"min_timeuuid(null)", "null"},
		},
	},
	{
		Name: "max_timeuuid", Args: []types.Type{types.Timestamp}, Returns: types.TimeUUID,
		Doc: "The greatest timeuuid of a millisecond, to compare with.",
		Call: strict(types.Timestamp, func(b []byte) []byte {
			u := types.MaxTimeUUID(types.DecodeBigInt(b))
			return u[:]
		}),
		Examples: []Example{
			{"max_timeuuid('2020-01-01')", "a747e70f-2c29-11ea-7f7f-7f7f7f7f7f7f"},
			{"max_timeuuid(0)", "1381670f-1dd2-11b2-7f7f-7f7f7f7f7f7f"},
		},
	},
}), []Function{
	{
		Name: "now", Returns: types.TimeUUID, Volatile: true,
		Doc:      "A fresh timeuuid, later than any before.",
		Call:     environment(func(e *Env) []byte { u := e.TimeUUID(); return u[:] }),
		Examples: []Example{{"now()", "896e34e0-2d0c-11ea-8080-808080808080"}},
	},
	{
		Name: "uuid", Returns: types.UUID, Volatile: true,
		Doc:      "A random UUID.",
		Call:     environment(func(e *Env) []byte { u := e.UUID(); return u[:] }),
		Examples: []Example{{"uuid()", "01010101-0101-4101-8101-010101010101"}},
	},
}...)
