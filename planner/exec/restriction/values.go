package restriction

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// Point has a value for each of some columns.
type Point = [][]byte

// keyValue evaluates the value that a key column is restricted to.
func keyValue(x *expr.Context, e expr.Expr, c *schema.Column) ([]byte, error) {
	v, err := e.Eval(x)
	if err != nil {
		return nil, err
	}
	if v.Unset {
		return nil, ErrUnset(c)
	}
	if v.Bytes == nil {
		return nil, errNullInCondition(c)
	}
	return v.Bytes, nil
}

// AppendPoint evaluates a point and appends its values.
func AppendPoint(dst Point, x *expr.Context, p where.Point, cols []*schema.Column) (Point, error) {
	if p.Tuple != nil {
		return appendTuple(dst, x, p.Tuple, cols)
	}
	for i, e := range p.Parts {
		b, err := keyValue(x, e, cols[i])
		if err != nil {
			return nil, err
		}
		dst = append(dst, b)
	}
	return dst, nil
}

// checkTuple refuses null in the tuples of (a, b) = (1, 2): Cassandra has another error for it than for one column, and
// a third one for an IN of tuples.
func checkTuple(x *expr.Context, c *where.Choice) error {
	if len(c.Columns) < 2 {
		return nil
	}
	for _, p := range c.Points {
		for i, e := range p.Parts {
			if v, err := e.Eval(x); err == nil && v.IsNull() {
				if len(c.Points) > 1 {
					return RefuseNull(c.Columns)
				}
				return ErrNull(c.Columns[i])
			}
		}
	}
	return nil
}

// appendTuple appends the fields of a tuple that is bound as a whole.
func appendTuple(dst Point, x *expr.Context, e expr.Expr, cols []*schema.Column) (Point, error) {
	v, err := TupleValue(x, e)
	if err != nil {
		return nil, err
	}
	if v.Unset {
		return nil, cqlerr.Invalidf("Invalid unset value for tuple (%s)", columnNames(cols))
	}
	if v.Bytes == nil {
		return nil, cqlerr.Invalidf("Invalid null value for tuple (%s)", columnNames(cols))
	}
	return appendFields(dst, v.Bytes, cols)
}

// TupleValue evaluates a tuple that is bound as a whole. Cassandra counts its fields before it looks at them.
func TupleValue(x *expr.Context, e expr.Expr) (types.Value, error) {
	v, err := e.Eval(x)
	if err == nil {
		return v, nil
	}
	if m, ok := e.(*expr.Marker); ok {
		if t, ok := m.Of.(*types.Tuple); ok && types.TupleLen(x.Values[m.Index].Bytes) > len(t.Elems) {
			values := "values"
			if len(t.Elems) == 1 {
				values = "value"
			}
			return v, cqlerr.Invalidf("Expected %d %s for %s column, but got more", len(t.Elems), values, t)
		}
	}
	return v, err
}

func appendFields(dst Point, tuple []byte, cols []*schema.Column) (Point, error) {
	for i, f := range types.TupleFields(tuple, len(cols)) {
		if f == nil {
			return nil, ErrNull(cols[i])
		}
		dst = append(dst, f)
	}
	return dst, nil
}

func columnNames(cols []*schema.Column) string {
	var b []byte
	for i, c := range cols {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, c.Name...)
	}
	return string(b)
}

// Points evaluates the points of a choice that is no bound list, in the order in which they are written.
func Points(x *expr.Context, c *where.Choice) ([]Point, error) {
	if err := checkTuple(x, c); err != nil {
		return nil, err
	}
	all := make([]Point, len(c.Points))
	for i, p := range c.Points {
		if i%64 == 63 {
			if err := Step(x); err != nil {
				return nil, err
			}
		}
		var err error
		if all[i], err = AppendPoint(nil, x, p, c.Columns); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// listValue evaluates the list of IN ?.
func listValue(x *expr.Context, c *where.Choice) ([]byte, error) {
	v, err := c.List.Eval(x)
	if err != nil {
		return nil, err
	}
	many := len(c.Columns) > 1
	switch {
	case v.Unset && many:
		return nil, cqlerr.Invalidf("Invalid unset value for in(%s)", columnNames(c.Columns))
	case v.Unset:
		return nil, ErrUnset(c.Columns[0])
	case v.Bytes == nil && many:
		return nil, cqlerr.Invalidf("Invalid null value for IN restriction")
	case v.Bytes == nil:
		return nil, ErrNull(c.Columns[0])
	}
	return v.Bytes, nil
}

// RefuseNull is the error for null in a list that keys are restricted to.
func RefuseNull(cols []*schema.Column) error {
	if len(cols) == 1 {
		return errNullInCondition(cols[0])
	}
	return cqlerr.Invalidf("Invalid null value in condition for columns: [%s]",
		strings.ReplaceAll(columnNames(cols), ",", ", "))
}

// ErrNull refuses null as the value of a column.
func ErrNull(c *schema.Column) error {
	return cqlerr.Invalidf("Invalid null value for column %s", c.Name)
}

// ErrUnset refuses an unset value of a column.
func ErrUnset(c *schema.Column) error {
	return cqlerr.Invalidf("Invalid unset value for column %s", c.Name)
}

func errNullInCondition(c *schema.Column) error {
	return cqlerr.Invalidf("Invalid null value in condition for column %s", c.Name)
}

// isTupleOf reports whether the elements of a list are tuples with a value for each column, not values of one column.
func isTupleOf(elem types.Type, cols []*schema.Column) bool {
	_, tuple := elem.(*types.Tuple)
	_, column := cols[0].Type.(*types.Tuple)
	return tuple && (len(cols) > 1 || !column)
}

// ByValue orders values as their type does.
func ByValue(c *schema.Column, a, b []byte) int { return c.Type.Compare(a, b) }

// ByClustering orders values as the rows of a partition are ordered.
func ByClustering(c *schema.Column, a, b []byte) int {
	if c.Desc {
		a, b = b, a
	}
	return c.Type.Compare(a, b)
}

// Step lets other work run. It returns an error when the execution has to end.
func Step(x *expr.Context) error {
	if x.Step == nil {
		return nil
	}
	return x.Step()
}

// SortStably sorts rows stably, and calls Step now and then.
func SortStably[T any](x *expr.Context, rows []T, compare func(a, b T) int) error {
	var err error
	n := 0
	slices.SortStableFunc(rows, func(a, b T) int {
		if n++; n%16 == 0 && err == nil {
			err = Step(x)
		}
		if err != nil {
			return 0 // the order does not matter any more
		}
		return compare(a, b)
	})
	return err
}

// SortPlaces sorts the places of elements in a list, and calls Step now and then. Equal elements stay in the order of
// their places.
func SortPlaces(x *expr.Context, places []uint32, compare func(a, b uint32) int) error {
	var err error
	n := 0
	slices.SortFunc(places, func(a, b uint32) int {
		if n++; n%256 == 0 && err == nil {
			err = Step(x)
		}
		if err != nil {
			return 0 // the order does not matter any more
		}
		if o := compare(a, b); o != 0 {
			return o
		}
		return int(a) - int(b)
	})
	return err
}
