package exec

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// checkKeyValues refuses to write to partitions whose keys are not valid: columns can have null elements in a list and
// tuples of any bytes, partition keys cannot.
func checkKeyValues(t *schema.Table, keys [][]byte) error {
	for i, c := range t.PartitionKey {
		if !maybeInvalid(c.Type) {
			continue
		}
		for _, key := range keys {
			parts, err := types.SplitCompositeKey(key, len(t.PartitionKey))
			if err != nil {
				return err
			}
			if err := c.Type.Validate(parts[i]); err != nil {
				return cqlerr.Invalidf("%s", err.Error())
			}
		}
	}
	return nil
}

// maybeInvalid reports whether expressions of a type can have values that the type refuses.
func maybeInvalid(t types.Type) bool {
	switch t.(type) {
	case *types.List, *types.Set, *types.Map, *types.Tuple, *types.Vector, *types.UserType:
		return true
	}
	return false
}
