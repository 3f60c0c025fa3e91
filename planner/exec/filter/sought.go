package filter

import (
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// Between returns the ends of the range of values that the index of a filter has for the rows that satisfy the filter;
// nil: there is none. It reports false if the filter is no range or the index has no order.
func Between(x *expr.Context, f *where.Filter) (lower, upper []byte, ok bool, err error) {
	if f.Index == nil || f.Index.Kind() != schema.SAI || f.Range == nil || len(f.Range.Columns) != 1 {
		return nil, nil, false, nil
	}
	for _, end := range []struct {
		bound *where.Bound
		value *[]byte
	}{{f.Range.Lower, &lower}, {f.Range.Upper, &upper}} {
		p, err := Bound(x, end.bound)
		if err != nil {
			return nil, nil, false, err
		}
		if p != nil {
			*end.value = p[0]
		}
	}
	return lower, upper, true, nil
}

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
