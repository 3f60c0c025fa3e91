package exec

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/store"
)

// appendSlices appends the ranges of clustering keys that a WHERE clause selects, in clustering order. No
// range at all means that no row is selected, perhaps as a range ends with null; a clause without clustering
// restrictions is not for it.
func appendSlices(dst []store.Slice, x *expr.Context, w *planner.Where) (_ []store.Slice, null bool, err error) {
	prefixes, err := prefixes(x, w.Clustering)
	if err != nil {
		return nil, false, err
	}
	for _, p := range prefixes {
		if err := checkClustering(p); err != nil {
			return nil, false, err
		}
	}
	if w.Slice == nil {
		for _, p := range prefixes {
			dst = append(dst, store.Slice{Start: p, End: p, StartInclusive: true, EndInclusive: true})
		}
		return dst, false, nil
	}
	start, end, err := ends(x, w.Slice)
	if err != nil || end.null {
		return dst, len(prefixes) > 0, err
	}
	for _, p := range prefixes {
		var s store.Slice
		s.Start, s.StartInclusive = start.behind(p)
		s.End, s.EndInclusive = end.behind(p)
		if !isEmpty(&s, len(p), w.Slice.Columns) {
			dst = append(dst, s)
		}
	}
	return dst, false, nil
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

// prefixes are the values that a clustering may begin with.
func prefixes(x *expr.Context, choices []*planner.Choice) ([]point, error) {
	p := make(point, 0, len(choices))
	for _, c := range choices {
		if c.List != nil || len(c.Points) != 1 || len(c.Columns) != 1 {
			return product(x, choices, byClustering)
		}
		var err error
		if p, err = appendPoint(p, x, c.Points[0], c.Columns); err != nil {
			return nil, err
		}
	}
	return []point{p}, nil
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
func ends(x *expr.Context, r *planner.Range) (start, stop end, err error) {
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

func boundEnd(x *expr.Context, b *planner.Bound) (end, error) {
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
func boundPoint(x *expr.Context, b *planner.Bound) (point, error) {
	if b.Point.Tuple != nil {
		v, err := b.Point.Tuple.Eval(x)
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
