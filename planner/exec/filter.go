package exec

import (
	"bytes"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// condition is a filter with its values: it reports whether a row, by column index, satisfies it.
type condition func(row [][]byte) (bool, error)

// conditions evaluates filters.
func conditions(x *expr.Context, filters []*where.Filter) ([]condition, error) {
	var all []condition
	for _, f := range filters {
		c, err := filterCondition(x, f)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func filterCondition(x *expr.Context, f *where.Filter) (condition, error) {
	switch {
	case f.Index != nil:
		return indexCondition(x, f)
	case f.Choice != nil:
		return choiceCondition(x, f.Choice)
	case f.Range != nil:
		return rangeCondition(x, f.Range)
	}
	return containsCondition(x, f.Contains)
}

// choiceCondition is for = and IN.
func choiceCondition(x *expr.Context, c *where.Choice) (condition, error) {
	l, err := filterListing(x, c)
	if err != nil {
		return nil, err
	}
	if l.len() <= fewValues {
		return func(row [][]byte) (bool, error) { return l.matchesOne(row), nil }, nil
	}
	if err := l.sort(x, byValue); err != nil {
		return nil, err
	}
	values := make(point, len(l.cols))
	return func(row [][]byte) (bool, error) {
		for i, c := range l.cols {
			if values[i] = row[c.Index]; values[i] == nil {
				return false, nil
			}
		}
		_, found := l.find(values, byValue)
		return found, nil
	}, nil
}

// fewValues is how many values a row is compared with one after the other. More are sorted.
const fewValues = 8

// filterListing is filterPoints for any number of values.
func filterListing(x *expr.Context, c *where.Choice) (*listing, error) {
	l := &listing{cols: c.Columns}
	if c.List != nil {
		return l, l.fromList(x, c, skipNull)
	}
	var err error
	if l.points, err = filterPoints(x, c); err != nil {
		return nil, err
	}
	return l, holdBytes(x, l.size())
}

// skipNull is what a filter on one column says of a null in a list: no cell has it.
func skipNull(cols []*schema.Column) error {
	if len(cols) == 1 {
		return nil
	}
	return refuseNull(cols)
}

// filterPoints are the values that columns are compared with, unless they are a list. Of several, null is one that no cell
// has.
func filterPoints(x *expr.Context, c *where.Choice) ([]point, error) {
	if c.In && len(c.Columns) > 1 {
		return points(x, c)
	}
	var ps []point
	for _, p := range c.Points {
		if p.Tuple != nil {
			if v, err := tupleValue(x, p.Tuple); err == nil && v.Bytes != nil && !c.In {
				for i, f := range types.TupleFields(v.Bytes, len(c.Columns)) {
					if err := checkFilterValue(types.Value{Bytes: f}, c.Columns[i]); err != nil {
						return nil, err
					}
				}
			}
			return points(x, c)
		}
		values := make(point, 0, len(p.Parts))
		for i, part := range p.Parts {
			v, err := part.Eval(x)
			if err != nil {
				return nil, err
			}
			if !c.In {
				if err := checkFilterValue(v, c.Columns[i]); err != nil {
					return nil, err
				}
			}
			if v.Bytes != nil {
				values = append(values, v.Bytes)
			}
		}
		if len(values) == len(p.Parts) {
			ps = append(ps, values)
		}
	}
	return ps, nil
}

func checkFilterValue(v types.Value, c *schema.Column) error {
	if v.Unset {
		return cqlerr.Invalidf("Unsupported unset value for column %s", c.Name)
	}
	if v.Bytes == nil {
		return cqlerr.Invalidf("Unsupported null value for column %s", c.Name)
	}
	return nil
}

// matchesOne reports whether the row's columns have one of the values.
func (l *listing) matchesOne(row [][]byte) bool {
	var room [4][]byte
	values := room[:0]
	for i := range l.len() {
		values = l.append(values[:0], i)
		equal := true
		for i, c := range l.cols {
			b := row[c.Index]
			if b == nil || c.Type.Compare(b, values[i]) != 0 {
				equal = false
				break
			}
		}
		if equal {
			return true
		}
	}
	return false
}

// rangeCondition is for comparisons.
func rangeCondition(x *expr.Context, r *where.Range) (condition, error) {
	lower, err := filterBound(x, r.Lower)
	if err != nil {
		return nil, err
	}
	upper, err := filterBound(x, r.Upper)
	if err != nil {
		return nil, err
	}
	return func(row [][]byte) (bool, error) {
		return within(row, r.Lower, lower, 1) && within(row, r.Upper, upper, -1), nil
	}, nil
}

func filterBound(x *expr.Context, b *where.Bound) (point, error) {
	if b == nil {
		return nil, nil
	}
	if len(b.Columns) > 1 || b.Point.Tuple != nil {
		return boundPoint(x, b)
	}
	v, err := b.Point.Parts[0].Eval(x)
	if err != nil {
		return nil, err
	}
	return point{v.Bytes}, checkFilterValue(v, b.Columns[0])
}

// within reports whether the row is on that side of the bound, or on it if it is inclusive: above it for
// side 1, below it for -1. In a range of several columns null comes first in clustering order.
func within(row [][]byte, b *where.Bound, values point, side int) bool {
	if b == nil {
		return true
	}
	for i, c := range b.Columns {
		v := row[c.Index]
		if v == nil {
			return i > 0 && c.Desc == (side > 0)
		}
		if o := c.Type.Compare(v, values[i]); o != 0 {
			return o*side > 0
		}
	}
	return b.Inclusive
}

// containsCondition is for CONTAINS, CONTAINS KEY and entries of maps.
func containsCondition(x *expr.Context, c *where.Contains) (condition, error) {
	value, key, err := containsValues(x, c)
	if err != nil {
		return nil, err
	}
	i := c.Column.Index
	m, isMap := c.Column.Type.(*types.Map)
	if !isMap {
		elem := c.Value.Type()
		return func(row [][]byte) (bool, error) { return hasElement(row[i], elem, value), nil }, nil
	}
	return func(row [][]byte) (bool, error) { return hasEntry(row[i], m, c.Keys, key, value), nil }, nil
}

// containsValues are what is looked for in a collection: a value, and the key of an entry if one is given.
func containsValues(x *expr.Context, c *where.Contains) (value, key []byte, err error) {
	v, err := c.Value.Eval(x)
	if err != nil {
		return nil, nil, err
	}
	if err := checkFilterValue(v, c.Column); err != nil {
		return nil, nil, err
	}
	if c.Key == nil {
		return v.Bytes, nil, nil
	}
	k, err := c.Key.Eval(x)
	if err != nil {
		return nil, nil, err
	}
	if k.Bytes == nil {
		return nil, nil, cqlerr.Invalidf("Unsupported null map key for column %s", c.Column.Name)
	}
	return v.Bytes, k.Bytes, nil
}

// hasElement reports whether a list or set has an element.
func hasElement(collection []byte, elem types.Type, value []byte) bool {
	if collection == nil {
		return false
	}
	for e := range types.Elements(collection) {
		if e != nil && elem.Compare(e, value) == 0 {
			return true
		}
	}
	return false
}

// hasEntry reports whether a map has the value as a key, or as a value, of that key if one is given.
func hasEntry(collection []byte, m *types.Map, byKey bool, key, value []byte) bool {
	if collection == nil {
		return false
	}
	for k, v := range types.Entries(collection) {
		switch {
		case key != nil && !bytes.Equal(k, key):
		case byKey && m.Key.Compare(k, value) == 0:
			return true
		case !byKey && m.Value.Compare(v, value) == 0:
			return true
		}
	}
	return false
}
