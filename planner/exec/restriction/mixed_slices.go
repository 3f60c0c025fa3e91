package restriction

import (
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
	"github.com/cqld/cqld/store"
)

// AppendMixedSlices appends the ranges of clustering keys that a range of tuples over columns in mixed order consists
// of, in clustering order: (a, b) > (1, 1) is a = 1 AND b > 1, and a > 1. If the clause has more than maxPrefixes
// prefixes, it reports tooMany.
func AppendMixedSlices(
	dst []store.Slice, x *expr.Context, w *where.Clause, maxPrefixes int,
) (_ []store.Slice, tooMany bool, err error) {
	var prefixes []Point
	if single(w.Clustering) {
		one, err := appendSingle(x, w.Clustering)
		if err != nil {
			return nil, false, err
		}
		prefixes = []Point{one}
	} else {
		p, err := newProduct(x, w.Clustering, ByClustering)
		if err != nil || p.len() > maxPrefixes {
			return nil, err == nil, err
		}
		for i := range p.len() {
			prefixes = append(prefixes, p.append(nil, i))
		}
	}
	lower, err := mixedEnd(x, w.Slice.Lower)
	if err != nil {
		return nil, false, err
	}
	upper, err := mixedEnd(x, w.Slice.Upper)
	if err != nil {
		return nil, false, err
	}
	for _, prefix := range prefixes {
		dst = cutMixed(dst, prefix, w.Slice.Columns, lower, upper)
	}
	return dst, false, nil
}

// mixedEnd evaluates a bound; nil: the range is open at this end, as it is where Cassandra will refuse a null.
func mixedEnd(x *expr.Context, b *where.Bound) (*end, error) {
	e, err := boundEnd(x, b)
	if err != nil || b == nil || e.null {
		return nil, err
	}
	return &e, nil
}

// cutMixed appends the ranges of the rows that begin with a prefix and whose values of columns are between the ends.
// The first columns in the same order decide, unless their values equal those of an end: then the next columns do.
// Like Cassandra, it makes one range of rows for which columns in the same order decide: the size of a batch shows it.
func cutMixed(dst []store.Slice, prefix Point, columns []*schema.Column, lower, upper *end) []store.Slice {
	if lower.isSpent() && !lower.inclusive || upper.isSpent() && !upper.inclusive {
		return dst // the rows with the values of the end are outside
	}
	if lower.isSpent() {
		lower = nil
	}
	if upper.isSpent() {
		upper = nil
	}
	if lower == nil && upper == nil {
		return append(dst, store.Slice{Start: prefix, End: prefix, StartInclusive: true, EndInclusive: true})
	}
	same, others := inSameOrder(columns)
	n := len(same)
	if lower != nil && upper != nil {
		order, shared := compareEnds(same, lower, upper)
		switch {
		case order > 0:
			return dst
		case order == 0 && shared == n:
			return cutMixed(dst, lower.extend(prefix, n), others, lower.rest(n), upper.rest(n))
		case order == 0 && (len(lower.values) == shared && !lower.inclusive || len(upper.values) == shared && !upper.inclusive):
			return dst // rows with the values of this end are outside, and the other end begins with them
		}
	}
	first, last := lower, upper
	if same[0].Desc {
		first, last = upper, lower
	}
	dst = cutEdge(dst, prefix, n, others, first, first == lower)
	s := store.Slice{Start: prefix, End: prefix, StartInclusive: true, EndInclusive: true}
	if first != nil {
		s.Start, s.StartInclusive = first.extend(prefix, n), len(first.values) <= n && first.inclusive
	}
	if last != nil {
		s.End, s.EndInclusive = last.extend(prefix, n), len(last.values) <= n && last.inclusive
	}
	return cutEdge(append(dst, s), prefix, n, others, last, last == lower)
}

// inSameOrder cuts off the first columns that all ascend or all descend.
func inSameOrder(columns []*schema.Column) (same, others []*schema.Column) {
	n := 1
	for n < len(columns) && columns[n].Desc == columns[0].Desc {
		n++
	}
	return columns[:n], columns[n:]
}

// compareEnds compares the values of columns that both ends have, and returns how many these are.
func compareEnds(columns []*schema.Column, lower, upper *end) (order, shared int) {
	shared = min(len(columns), len(lower.values), len(upper.values))
	for i, c := range columns[:shared] {
		if order = c.Type.Compare(lower.values[i], upper.values[i]); order != 0 {
			break
		}
	}
	return order, shared
}

// cutEdge appends the ranges of the rows that begin with the first n values of an end, if it has others, which are of
// columns.
func cutEdge(dst []store.Slice, prefix Point, n int, columns []*schema.Column, e *end, isLower bool) []store.Slice {
	switch {
	case e == nil || len(e.values) <= n:
		return dst
	case isLower:
		return cutMixed(dst, e.extend(prefix, n), columns, e.rest(n), nil)
	}
	return cutMixed(dst, e.extend(prefix, n), columns, nil, e.rest(n))
}

// isSpent reports whether all values of an end have been used.
func (e *end) isSpent() bool { return e != nil && len(e.values) == 0 }

// extend appends the first values of an end, n of them at most, to a prefix.
func (e *end) extend(prefix Point, n int) Point {
	return append(prefix[:len(prefix):len(prefix)], e.values[:min(n, len(e.values))]...)
}

// rest is the end without its first n values.
func (e *end) rest(n int) *end { return &end{values: e.values[n:], inclusive: e.inclusive} }
