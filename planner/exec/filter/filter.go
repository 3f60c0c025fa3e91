package filter

import (
	"bytes"
	"cmp"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// Condition is a filter with its values. It reports whether a row satisfies the filter; the row has a value at the
// index of each column.
type Condition func(row [][]byte) (bool, error)

// Conditions evaluates filters.
func Conditions(x *expr.Context, filters []*where.Filter) ([]Condition, error) {
	var all []Condition
	var long error // reported last, because Cassandra checks the size when it knows all values
	for _, f := range filters {
		c, err := newCondition(x, f)
		if err == errLongValue {
			long = err
			continue
		}
		if err != nil {
			return nil, err
		}
		if f.Never {
			c = func([][]byte) (bool, error) { return false, nil }
		}
		all = append(all, c)
	}
	return all, long
}

// newCondition evaluates one filter.
func newCondition(x *expr.Context, f *where.Filter) (Condition, error) {
	switch {
	case f.Index != nil:
		return indexCondition(x, f)
	case f.Choice != nil:
		return choiceCondition(x, f.Choice)
	case f.Range != nil:
		return InRange(x, f.Range)
	}
	return containsCondition(x, f.Contains)
}

// choiceCondition is the condition of = and IN.
func choiceCondition(x *expr.Context, c *where.Choice) (Condition, error) {
	l, err := listing(x, c)
	if err != nil {
		return nil, err
	}
	if l.Len() <= fewValues {
		return func(row [][]byte) (bool, error) { return matchesOne(l, row), nil }, nil
	}
	if err := l.Sort(x, restriction.ByValue); err != nil {
		return nil, err
	}
	values := make(restriction.Point, len(c.Columns))
	return func(row [][]byte) (bool, error) {
		for i, c := range c.Columns {
			if values[i] = row[c.Index]; values[i] == nil {
				return false, nil
			}
		}
		_, found := l.Find(values, restriction.ByValue)
		return found, nil
	}, nil
}

// fewValues is how many values a row is compared with one by one. Where there are more, they are sorted.
const fewValues = 8

// listing has the values that columns are compared with by = or IN.
func listing(x *expr.Context, c *where.Choice) (*restriction.Listing, error) {
	if c.List != nil {
		return restriction.NewListListing(x, c, skipNull)
	}
	ps, err := points(x, c)
	if err != nil {
		return nil, err
	}
	return restriction.NewPointListing(x, c.Columns, ps)
}

// skipNull leaves null in a list of one column out: no cell equals it.
func skipNull(cols []*schema.Column) error {
	if len(cols) == 1 {
		return nil
	}
	return restriction.RefuseNull(cols)
}

// points are the values of a choice that is no bound list. A null in an IN of several is left out: no cell equals it.
func points(x *expr.Context, c *where.Choice) ([]restriction.Point, error) {
	if c.In && len(c.Columns) > 1 {
		return restriction.Points(x, c)
	}
	var ps []restriction.Point
	for _, p := range c.Points {
		if p.Tuple != nil {
			if err := checkTuple(x, p.Tuple, c); err != nil {
				return nil, err
			}
			return restriction.Points(x, c)
		}
		values := make(restriction.Point, 0, len(p.Parts))
		for i, part := range p.Parts {
			v, err := part.Eval(x)
			if err != nil {
				return nil, err
			}
			if !c.In {
				if err := CheckValue(v, c.Columns[i]); err != nil {
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

// checkTuple refuses null in a tuple that is bound as a whole and that columns have to equal.
func checkTuple(x *expr.Context, tuple expr.Expr, c *where.Choice) error {
	v, err := restriction.TupleValue(x, tuple)
	if err != nil || v.Bytes == nil || c.In {
		return err
	}
	for i, f := range types.TupleFields(v.Bytes, len(c.Columns)) {
		if err := CheckValue(types.Value{Bytes: f}, c.Columns[i]); err != nil {
			return err
		}
	}
	return nil
}

// CheckValue refuses null and unset as the value that a column is compared with.
func CheckValue(v types.Value, c *schema.Column) error { return checkPart(v, "value", c) }

// checkPart refuses null and unset as a value or as a part of m[k] = v.
func checkPart(v types.Value, part string, c *schema.Column) error {
	switch {
	case v.Unset:
		return cqlerr.Invalidf("Unsupported unset %s for column %s", part, c.Name)
	case v.Bytes == nil:
		return cqlerr.Invalidf("Unsupported null %s for column %s", part, c.Name)
	}
	return nil
}

// matchesOne reports whether the columns of a row have one of the values.
func matchesOne(l *restriction.Listing, row [][]byte) bool {
	var room [4][]byte
	values := room[:0]
	for i := range l.Len() {
		values = l.Append(values[:0], i)
		equal := true
		for i, c := range l.Columns() {
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

// InRange is the condition of a comparison.
func InRange(x *expr.Context, r *where.Range) (Condition, error) {
	lower, err := bound(x, r.Lower)
	if err != nil {
		return nil, err
	}
	upper, err := bound(x, r.Upper)
	if err != nil {
		return nil, err
	}
	return func(row [][]byte) (bool, error) {
		return within(row, r.Lower, lower, 1) && within(row, r.Upper, upper, -1), nil
	}, nil
}

// bound evaluates the values of a bound that columns are compared with; nil: there is no bound.
func bound(x *expr.Context, b *where.Bound) (restriction.Point, error) {
	if b == nil {
		return nil, nil
	}
	if len(b.Columns) > 1 || b.Point.Tuple != nil {
		return restriction.BoundPoint(x, b)
	}
	v, err := b.Point.Parts[0].Eval(x)
	if err != nil {
		return nil, err
	}
	return restriction.Point{v.Bytes}, CheckValue(v, b.Columns[0])
}

// within reports whether a row is above a bound (side 1) or below it (side -1), or equals an inclusive bound. In a
// range of several columns null comes first in clustering order.
func within(row [][]byte, b *where.Bound, values restriction.Point, side int) bool {
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

// containsCondition is the condition of CONTAINS, CONTAINS KEY and m[k] = v.
func containsCondition(x *expr.Context, c *where.Contains) (Condition, error) {
	value, key, err := containsValues(x, c)
	if err != nil {
		return nil, err
	}
	i := c.Column.Index
	m, isMap := c.Column.Type.(*types.Map)
	if !isMap {
		compare := c.Value.Type().Compare
		return func(row [][]byte) (bool, error) { return HasElement(row[i], value, compare), nil }, nil
	}
	compare := m.Value.Compare
	if c.Keys {
		compare = m.Key.Compare
	}
	return func(row [][]byte) (bool, error) { return HasEntry(row[i], c.Keys, key, value, compare), nil }, nil
}

// containsValues evaluates the value to look for in a collection, and the key in m[k] = v.
func containsValues(x *expr.Context, c *where.Contains) (value, key []byte, err error) {
	v, err := c.Value.Eval(x)
	if err != nil {
		return nil, nil, err
	}
	if c.Key == nil {
		return v.Bytes, nil, CheckValue(v, c.Column)
	}
	k, err := c.Key.Eval(x)
	if err == nil {
		err = cmp.Or(checkPart(k, "map key", c.Column), checkPart(v, "map value", c.Column))
	}
	return v.Bytes, k.Bytes, err
}

// HasElement reports whether a list or set has an element that compares as equal to a value.
func HasElement(collection, value []byte, compare func(a, b []byte) int) bool {
	for e := range types.Elements(collection) {
		if e != nil && compare(e, value) == 0 {
			return true
		}
	}
	return false
}

// HasEntry reports whether a map has a value that compares as equal under a key, or under any key if it is nil. With
// byKey it compares the keys instead.
func HasEntry(collection []byte, byKey bool, key, value []byte, compare func(a, b []byte) int) bool {
	for k, v := range types.Entries(collection) {
		if byKey {
			v = k
		}
		if (key == nil || bytes.Equal(k, key)) && compare(v, value) == 0 {
			return true
		}
	}
	return false
}
