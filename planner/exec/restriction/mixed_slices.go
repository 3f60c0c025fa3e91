package restriction

import (
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
	"github.com/cqld/cqld/store"
)

// AppendMixedSlices appends the ranges of clustering keys that a range of tuples over columns in mixed order consists
// of, in clustering order: (a, b) > (1, 1) is a = 1 AND b > 1, and a > 1. If the clause has more than most prefixes, it
// reports tooMany.
func AppendMixedSlices(
	dst []store.Slice, x *expr.Context, w *where.Clause, most int,
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
		if err != nil || p.len() > most {
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
		if err := CheckClustering(prefix); err != nil {
			return nil, false, err
		}
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
// The first column decides, unless its value equals the first value of an end: then the next columns do.
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
	c := columns[0]
	if lower != nil && upper != nil {
		switch order := c.Type.Compare(lower.values[0], upper.values[0]); {
		case order > 0:
			return dst
		case order == 0:
			return cutMixed(dst, lower.extend(prefix), columns[1:], lower.rest(), upper.rest())
		}
	}
	first, last := lower, upper
	if c.Desc {
		first, last = upper, lower
	}
	dst = cutEdge(dst, prefix, columns, first, first == lower)
	s := store.Slice{Start: prefix, End: prefix, StartInclusive: true, EndInclusive: true}
	if first != nil {
		s.Start, s.StartInclusive = first.extend(prefix), len(first.values) == 1 && first.inclusive
	}
	if last != nil {
		s.End, s.EndInclusive = last.extend(prefix), len(last.values) == 1 && last.inclusive
	}
	return cutEdge(append(dst, s), prefix, columns, last, last == lower)
}

// cutEdge appends the ranges of the rows that begin with the first value of an end, if it has others.
func cutEdge(dst []store.Slice, prefix Point, columns []*schema.Column, e *end, isLower bool) []store.Slice {
	switch {
	case e == nil || len(e.values) == 1:
		return dst
	case isLower:
		return cutMixed(dst, e.extend(prefix), columns[1:], e.rest(), nil)
	}
	return cutMixed(dst, e.extend(prefix), columns[1:], nil, e.rest())
}

// isSpent reports whether all values of an end have been used.
func (e *end) isSpent() bool { return e != nil && len(e.values) == 0 }

// extend puts the first value of an end behind a prefix.
func (e *end) extend(prefix Point) Point {
	return append(prefix[:len(prefix):len(prefix)], e.values[0])
}

// rest is the end behind its first value.
func (e *end) rest() *end { return &end{values: e.values[1:], inclusive: e.inclusive} }
