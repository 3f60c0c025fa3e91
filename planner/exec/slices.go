package exec

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
	"github.com/cqld/cqld/store"
)

// appendSlices appends the ranges of clustering keys that a WHERE clause selects, in clustering order. No
// range at all means that no row is selected, perhaps as a range ends with null; a clause without clustering
// restrictions is not for it. Of more than most nothing is appended: each is made when it is wanted.
func appendSlices(dst []store.Slice, x *expr.Context, w *where.Clause, most int) (_ []store.Slice, many *ranges, null bool, err error) {
	var r ranges
	var one point
	if single(w.Clustering) {
		if one, err = appendSingle(x, w.Clustering); err == nil {
			err = checkClustering(one)
		}
		r.n = 1
	} else if r.prefixes, err = newProduct(x, w.Clustering, byClustering); err == nil {
		r.n = r.prefixes.len()
		err = r.check(x)
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
		if s, ok := r.behind(one); ok {
			dst = append(dst, s)
		}
		return dst, nil, false, nil
	case r.n > most:
		if r.prefix = r.prefixes.append(nil, 0); r.isEmpty() {
			return dst, nil, false, nil
		}
		return nil, &r, false, nil
	}
	for i := range r.n {
		if s, ok := r.behind(r.prefixes.append(nil, i)); ok {
			dst = append(dst, s)
		}
	}
	return dst, nil, false, nil
}

// ranges are the ranges of clustering keys that begin with one of many combinations of values.
type ranges struct {
	prefixes   *product
	n          int
	columns    []*schema.Column // of the range behind them; nil: there is none
	start, end end
	prefix     point
}

// Len is how many there are.
func (r *ranges) Len() int { return r.n }

// Range is one of them.
func (r *ranges) Range(i int) store.Slice {
	r.prefix = r.prefixes.append(r.prefix[:0], i)
	s, _ := r.behind(r.prefix)
	return s
}

// isEmpty reports whether the ranges end before they start, which is true of all of them if it is of one.
func (r *ranges) isEmpty() bool {
	_, ok := r.behind(r.prefix)
	return !ok
}

// behind is the range of the rows that begin with a prefix; not ok: it is empty.
func (r *ranges) behind(prefix point) (s store.Slice, ok bool) {
	if r.columns == nil {
		return store.Slice{Start: prefix, End: prefix, StartInclusive: true, EndInclusive: true}, true
	}
	s.Start, s.StartInclusive = r.start.behind(prefix)
	s.End, s.EndInclusive = r.end.behind(prefix)
	return s, !isEmpty(&s, len(prefix), r.columns)
}

// check refuses prefixes that are too long.
func (r *ranges) check(x *expr.Context) error {
	if r.prefixes.longest() <= maxKey {
		return nil
	}
	for i := range r.n {
		if i%64 == 63 {
			if err := step(x); err != nil {
				return err
			}
		}
		r.prefix = r.prefixes.append(r.prefix[:0], i)
		if err := checkClustering(r.prefix); err != nil {
			return err
		}
	}
	return nil
}

// isEmpty reports whether a slice ends before it starts. Its ends have the first values in common, the
// others are of cols.
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

// single reports whether columns are restricted to one value each, one by one.
func single(choices []*where.Choice) bool {
	for _, c := range choices {
		if c.List != nil || len(c.Points) != 1 || len(c.Columns) != 1 {
			return false
		}
	}
	return true
}

// appendSingle is the only combination of such values.
func appendSingle(x *expr.Context, choices []*where.Choice) (p point, err error) {
	p = make(point, 0, len(choices))
	for _, c := range choices {
		if p, err = appendPoint(p, x, c.Points[0], c.Columns); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// end is one end of a range: values and whether rows with them belong to it. Without values it is open.
// Cassandra takes a null here for a value in front of all others: a range may begin with it, which is no
// bound, and one that ends with it is empty.
type end struct {
	values    point
	inclusive bool
	null      bool
}

// behind is the end inside the rows that begin with prefix.
func (e end) behind(prefix point) (point, bool) {
	if e.values == nil {
		return prefix, true
	}
	return append(prefix[:len(prefix):len(prefix)], e.values...), e.inclusive
}

// ends are the ends of a range in clustering order: a column that descends begins with its upper bound. Of
// columns in mixed orders only the first counts, and the rest is left to a filter.
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
	p, err := boundPoint(x, b)
	if err != nil {
		return end{}, err
	}
	return end{values: p, inclusive: b.Inclusive}, checkClustering(p)
}

// boundPoint is the values of a bound. Cassandra says of a null in a tuple that is bound whole otherwise than where columns
// are set equal to it.
func boundPoint(x *expr.Context, b *where.Bound) (point, error) {
	if b.Point.Tuple != nil {
		v, err := tupleValue(x, b.Point.Tuple)
		if err != nil {
			return nil, err
		}
		for i, f := range types.TupleFields(v.Bytes, len(b.Columns)) {
			if f == nil && v.Bytes != nil {
				return nil, cqlerr.Invalidf("Invalid null value in condition for column %s", b.Columns[i].Name)
			}
		}
	}
	return appendPoint(nil, x, b.Point, b.Columns)
}

// first is the end's first column alone, with all rows that have its value.
func (e end) first() end {
	if len(e.values) < 2 {
		return e
	}
	return end{values: e.values[:1], inclusive: true}
}
