package filter

import (
	"bytes"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// MaxLegacyValue is the largest number of bytes of a value that Cassandra's first kind of index looks for. A value that
// is stored must be shorter.
const MaxLegacyValue = 65535

var errLongValue = cqlerr.Invalidf("Index expression values may not be larger than 64K")

// EntryOverhead is the number of bytes that an index stores for an entry of a map besides the key and the value.
const EntryOverhead = 6

// legacyCondition is the condition of a filter that an index of the first kind serves. The index that finds the rows
// compares bytes; other conditions on indexed columns compare as types do. Both refuse values that are too long.
func legacyCondition(x *expr.Context, f *where.Filter) (Condition, error) {
	plain := *f
	plain.Index = nil
	test, err := newCondition(x, &plain)
	if err != nil {
		return nil, err
	}
	n := 0
	column := f.Columns()[0].Index
	var equal Condition
	if f.Contains != nil {
		value, key, err := containsValues(x, f.Contains)
		if err != nil {
			return nil, err
		}
		n = len(value)
		if key != nil {
			n += len(key) + EntryOverhead
		}
		_, isMap := f.Contains.Column.Type.(*types.Map)
		equal = func(row [][]byte) (bool, error) {
			if isMap {
				return HasEntry(row[column], f.Contains.Keys, key, value, bytes.Compare), nil
			}
			return HasElement(row[column], value, bytes.Compare), nil
		}
	} else {
		ps, err := points(x, f.Choice)
		if err != nil {
			return nil, err
		}
		want := ps[0][0]
		n = len(want)
		equal = func(row [][]byte) (bool, error) { return row[column] != nil && bytes.Equal(row[column], want), nil }
	}
	if n > MaxLegacyValue {
		return nil, errLongValue
	}
	if f.Bytes {
		return equal, nil
	}
	return test, nil
}
