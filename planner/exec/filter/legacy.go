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
				return hasEntryBytes(row[column], f.Contains.Keys, key, value), nil
			}
			return hasElementBytes(row[column], value), nil
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
		return nil, cqlerr.Invalidf("Index expression values may not be larger than 64K")
	}
	if f.Bytes {
		return equal, nil
	}
	return test, nil
}

// hasElementBytes is HasElement, but compares bytes.
func hasElementBytes(collection, value []byte) bool {
	if collection == nil {
		return false
	}
	for e := range types.Elements(collection) {
		if e != nil && bytes.Equal(e, value) {
			return true
		}
	}
	return false
}

// hasEntryBytes is HasEntry, but compares bytes.
func hasEntryBytes(collection []byte, byKey bool, key, value []byte) bool {
	if collection == nil {
		return false
	}
	for k, v := range types.Entries(collection) {
		found := v
		if byKey {
			found = k
		}
		if (key == nil || bytes.Equal(k, key)) && bytes.Equal(found, value) {
			return true
		}
	}
	return false
}
