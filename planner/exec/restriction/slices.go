package restriction

import (
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
	"github.com/cqld/cqld/store"
)

// AppendSlices appends the ranges of clustering keys that a WHERE clause selects, in clustering order. If there are
// more than maxRanges, it appends nothing and returns them as many, which makes each range when it is read. Without any
// range no row is selected; null says that the reason is a range that ends with null. The clause must restrict
// clustering columns.
func AppendSlices(
	dst []store.Slice, x *expr.Context, w *where.Clause, maxRanges int,
) (_ []store.Slice, many *Ranges, null bool, err error) {
	var r Ranges
	var one Point
	if single(w.Clustering) {
		one, err = appendSingle(x, w.Clustering)
		r.n = 1
	} else if r.prefixes, err = newProduct(x, w.Clustering, ByClustering); err == nil {
		r.n = r.prefixes.len()
	}
	if err != nil {
		return nil, nil, false, err
	}
	if w.Slice != nil {
		if r.start, r.end, err = ends(x, w.Slice); err != nil || r.end.null {
			return dst, nil, r.n > 0, err
		}
		r.columns = w.Slice.Columns
	}
	switch {
	case r.prefixes == nil:
		if s, ok := r.within(one); ok {
			dst = append(dst, s)
		}
		return dst, nil, false, nil
	case r.n > maxRanges:
		if r.prefix = r.prefixes.append(nil, 0); r.isEmpty() {
			return dst, nil, false, nil
		}
		return nil, &r, false, nil
	}
	for i := range r.n {
		if s, ok := r.within(r.prefixes.append(nil, i)); ok {
			dst = append(dst, s)
		}
	}
	return dst, nil, false, nil
}

// Ranges are many ranges of clustering keys: one for each combination of values of the first columns.
type Ranges struct {
	prefixes   *product
	n          int
	columns    []*schema.Column // of the range after a prefix; nil: there is none
	start, end end
	prefix     Point
}

// Len is the number of ranges.
func (r *Ranges) Len() int { return r.n }

// Range makes the i-th range. It is valid until the next call.
func (r *Ranges) Range(i int) store.Slice {
	r.prefix = r.prefixes.append(r.prefix[:0], i)
	s, _ := r.within(r.prefix)
	return s
}

// isEmpty reports whether the ranges end before they start: either all do, or none.
func (r *Ranges) isEmpty() bool {
	_, ok := r.within(r.prefix)
	return !ok
}

// within is the range of rows that begin with a prefix; not ok: it is empty.
func (r *Ranges) within(prefix Point) (s store.Slice, ok bool) {
	if r.columns == nil {
		return store.Slice{Start: prefix, End: prefix, StartInclusive: true, EndInclusive: true}, true
	}
	s.Start, s.StartInclusive = r.start.within(prefix)
	s.End, s.EndInclusive = r.end.within(prefix)
	return s, !isEmpty(&s, len(prefix), r.columns)
}

// isEmpty reports whether a slice ends before it starts. Its ends have the first values in common; the other values are
// those of cols.
func isEmpty(s *store.Slice, same int, cols []*schema.Column) bool {
	start, end := s.Start[same:], s.End[same:]
	for i := range min(len(start), len(end)) {
		order := cols[i].Type.Compare(start[i], end[i])
		if cols[i].Desc {
			order = -order
		}
		if order != 0 {
			return order > 0
		}
	}
	switch {
	case len(start) < len(end):
		return !s.StartInclusive
	case len(start) > len(end):
		return !s.EndInclusive
	}
	return !s.StartInclusive || !s.EndInclusive
}

// single reports whether each column is restricted to one value, by a separate restriction.
func single(choices []*where.Choice) bool {
	for _, c := range choices {
		if c.List != nil || len(c.Points) != 1 || len(c.Columns) != 1 {
			return false
		}
	}
	return true
}

// appendSingle evaluates the only combination of such restrictions.
func appendSingle(x *expr.Context, choices []*where.Choice) (p Point, err error) {
	p = make(Point, 0, len(choices))
	for _, c := range choices {
		if p, err = AppendPoint(p, x, c.Points[0], c.Columns); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// end is one end of a range: its values, and whether rows with these values belong to the range. Without values the
// range is open at this end. Cassandra sorts null in front of all values here: a range that begins with null is open,
// and one that ends with null is empty.
type end struct {
	values    Point
	inclusive bool
	null      bool
}

// within is the end within the rows that begin with prefix.
func (e end) within(prefix Point) (Point, bool) {
	if e.values == nil {
		return prefix, true
	}
	return append(prefix[:len(prefix):len(prefix)], e.values...), e.inclusive
}

// ends are the ends of a range in clustering order: a descending column begins with its upper bound. If the columns are
// in mixed orders, only the first one is used here, and a filter compares the others.
func ends(x *expr.Context, r *where.Range) (start, stop end, err error) {
	lower, err := boundEnd(x, r.Lower)
	if err != nil {
		return end{}, end{}, err
	}
	upper, err := boundEnd(x, r.Upper)
	if err != nil {
		return end{}, end{}, err
	}
	if r.MixedOrder() {
		lower, upper = lower.first(), upper.first()
	}
	if r.Columns[0].Desc {
		return upper, lower, nil
	}
	return lower, upper, nil
}

func boundEnd(x *expr.Context, b *where.Bound) (end, error) {
	if b == nil {
		return end{}, nil
	}
	if len(b.Point.Parts) == 1 {
		v, err := b.Point.Parts[0].Eval(x)
		if err != nil || v.IsNull() {
			return end{null: true}, err
		}
	}
	p, err := BoundPoint(x, b)
	if err != nil {
		return end{}, err
	}
	return end{values: p, inclusive: b.Inclusive}, nil
}

// BoundPoint evaluates the values of a bound. For null in a tuple that is bound as a whole, Cassandra has another error
// here than for (a, b) = ?.
func BoundPoint(x *expr.Context, b *where.Bound) (Point, error) {
	if b.Point.Tuple != nil {
		v, err := TupleValue(x, b.Point.Tuple)
		if err != nil {
			return nil, err
		}
		for i, f := range types.TupleFields(v.Bytes, len(b.Columns)) {
			if f == nil && v.Bytes != nil {
				return nil, errNullInCondition(b.Columns[i])
			}
		}
	}
	return AppendPoint(nil, x, b.Point, b.Columns)
}

// first is the end that has only the first column, and includes all rows with its value.
func (e end) first() end {
	if len(e.values) < 2 {
		return e
	}
	return end{values: e.values[:1], inclusive: true}
}
