package filter

import (
	"bytes"

	"github.com/cqld/cqld/cql/analysis"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// indexCondition is the condition of a filter whose index compares values in its own way.
func indexCondition(x *expr.Context, f *where.Filter) (Condition, error) {
	switch f.Index.Kind() {
	case schema.LegacyIndex:
		return legacyCondition(x, f)
	case schema.SASI:
		return sasiCondition(x, f)
	}
	column := f.Columns()[0]
	of, key := schema.IndexedType(column, f.Index.Part())
	terms := newTerms(f.Index, of)
	switch {
	case f.Range != nil:
		return termsBetween(x, terms, f.Range)
	case f.Contains != nil:
		return termsInside(x, terms, f.Contains, key != nil)
	}
	ps, err := points(x, f.Choice)
	if err != nil {
		return nil, err
	}
	want, ok := terms.of(ps[0][0])
	return func(row [][]byte) (bool, error) { return terms.equal(row[column.Index], want, ok), nil }, nil
}

// terms are the values as a storage-attached index stores and compares them.
type terms struct {
	typ     types.Type
	analyze func([]byte) []byte // nil: values are stored as they are
	compare func(a, b []byte) int
	limit   int // longer values are not indexed
}

// maxSAITerm is the largest number of bytes of a value that a storage-attached index stores.
const maxSAITerm = 8 << 10

func newTerms(x *schema.Index, of types.Type) *terms {
	t := &terms{typ: of, analyze: analysis.ForSAI(x, of), compare: of.Compare, limit: maxSAITerm}
	switch of.(type) {
	case *types.List, *types.Set, *types.Map, *types.Tuple, *types.UserType, *types.Vector:
		t.compare = bytes.Compare
	}
	if of == types.Inet {
		t.compare = bytes.Compare
	}
	return t
}

// of returns the term of a value, and whether the value is indexed. Values of no bytes are indexed only as text.
func (t *terms) of(value []byte) ([]byte, bool) {
	if value == nil || len(value) > t.limit || len(value) == 0 && t.typ != types.Text && t.typ != types.ASCII {
		return nil, false
	}
	if t.analyze == nil {
		return value, true
	}
	return t.analyze(value), true
}

// equal reports whether a value has the wanted term; it does not if none is wanted.
func (t *terms) equal(value, want []byte, wanted bool) bool {
	if !wanted {
		return false
	}
	term, ok := t.of(value)
	return ok && t.compare(term, want) == 0
}

// termsBetween is the condition of a comparison.
func termsBetween(x *expr.Context, t *terms, r *where.Range) (Condition, error) {
	lower, err := bound(x, r.Lower)
	if err != nil {
		return nil, err
	}
	upper, err := bound(x, r.Upper)
	if err != nil {
		return nil, err
	}
	within := func(term []byte, b *where.Bound, end restriction.Point, side int) bool {
		if b == nil {
			return true
		}
		bound, _ := t.of(end[0])
		order := t.compare(term, bound)
		return order*side > 0 || order == 0 && b.Inclusive
	}
	i := r.Columns[0].Index
	return func(row [][]byte) (bool, error) {
		term, ok := t.of(row[i])
		return ok && within(term, r.Lower, lower, 1) && within(term, r.Upper, upper, -1), nil
	}, nil
}

// termsInside is the condition of CONTAINS, CONTAINS KEY and m[k] = v.
func termsInside(x *expr.Context, t *terms, c *where.Contains, entries bool) (Condition, error) {
	value, key, err := containsValues(x, c)
	if err != nil {
		return nil, err
	}
	if entries {
		t.analyze, t.compare = nil, bytes.Compare
	}
	want, wanted := t.of(value)
	i := c.Column.Index
	if _, isMap := c.Column.Type.(*types.Map); !isMap {
		return func(row [][]byte) (bool, error) {
			for e := range types.Elements(row[i]) {
				if t.equal(e, want, wanted) {
					return true, nil
				}
			}
			return false, nil
		}, nil
	}
	return func(row [][]byte) (bool, error) {
		for k, v := range types.Entries(row[i]) {
			part := v
			if c.Keys {
				part = k
			}
			if key != nil && !bytes.Equal(k, key) {
				continue
			}
			if t.equal(part, want, wanted) {
				return true, nil
			}
		}
		return false, nil
	}, nil
}
