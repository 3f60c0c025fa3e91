package filter

import (
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// Sought returns the value that the index of a filter has for the rows that satisfy the filter, and for an index of
// entries of maps their key. It reports false if that is not one value.
func Sought(x *expr.Context, f *where.Filter) (key, value []byte, ok bool, err error) {
	switch {
	case f.Index == nil:
		return nil, nil, false, nil
	case f.Contains != nil:
		value, key, err = containsValues(x, f.Contains)
		return key, value, err == nil, err
	case f.Choice == nil || f.Choice.List != nil || len(f.Choice.Columns) != 1:
		return nil, nil, false, nil
	}
	ps, err := points(x, f.Choice)
	if err != nil || len(ps) != 1 {
		return nil, nil, false, err
	}
	return nil, ps[0][0], true, nil
}
