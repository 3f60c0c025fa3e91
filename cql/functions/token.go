package functions

import "github.com/cqld/cqld/cql/types"

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
