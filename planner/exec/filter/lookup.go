package filter

import (
	"cmp"
	"slices"

	"github.com/cqld/cqld/cql/analysis"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
	"github.com/cqld/cqld/store"
)

// Lookup returns the range of index entries of rows that satisfy a filter. It reports false if that is not one
// value, one range or one pattern.
func Lookup(x *expr.Context, f *where.Filter) (l store.Lookup, ok bool, err error) {
	switch {
	case f.Index == nil:
		return l, false, nil
	case f.Like != nil:
		return lookupLike(x, f.Like)
	case f.Range != nil:
		return lookupRange(x, f)
	}
	l.Index = f.Index
	if f.Contains != nil {
		l.Value, l.Key, err = containsValues(x, f.Contains)
	} else {
		if f.Choice.List != nil || len(f.Choice.Columns) != 1 {
			return l, false, nil
		}
		ps, err := points(x, f.Choice)
		if err != nil || len(ps) != 1 {
			return l, false, err
		}
		l.Value = ps[0][0]
	}
	if err != nil {
		return l, false, err
	}
	c := f.Columns()[0]
	switch mode := f.Index.SASIMode(c); {
	case f.Index.Kind() == schema.SASI && mode.Literal:
		l.Value, ok = longestTerm(mode, l.Value)
		return l, ok, nil
	case f.Index.Kind() == schema.SAI:
		of, _ := schema.IndexedType(c, f.Index.Part())
		if analyze := analysis.ForSAI(f.Index, of); analyze != nil {
			l.Value = analyze(l.Value)
		}
	}
	return l, true, nil
}

// lookupLike is Lookup for LIKE.
func lookupLike(x *expr.Context, like *where.Like) (l store.Lookup, ok bool, err error) {
	index, how, part, err := likeIndex(x, like)
	if err != nil {
		return l, false, err
	}
	term, ok := longestTerm(index.SASIMode(like.Column), part)
	return store.Lookup{Index: index, Value: term, Match: how.how}, ok, nil
}

// longestTerm is the longest term of a searched text: it finds the fewest rows. It reports false if no row has it.
func longestTerm(mode schema.SASIMode, part []byte) ([]byte, bool) {
	terms := analysis.ForSASI(mode, part)
	if len(terms) == 0 {
		return nil, false
	}
	term := slices.MaxFunc(terms, func(a, b []byte) int { return cmp.Compare(len(a), len(b)) })
	return term, len(term) < analysis.MaxSASITerm
}

// lookupRange is Lookup for a range. Indexes of the first kind have no order.
func lookupRange(x *expr.Context, f *where.Filter) (l store.Lookup, ok bool, err error) {
	if f.Index.Kind() == schema.LegacyIndex || len(f.Range.Columns) != 1 {
		return l, false, nil
	}
	l = store.Lookup{Index: f.Index, Ranged: true}
	var analyze func([]byte) []byte
	if f.Index.Kind() == schema.SAI {
		analyze = analysis.ForSAI(f.Index, f.Range.Columns[0].Type)
	}
	for _, end := range []struct {
		bound *where.Bound
		value *[]byte
	}{{f.Range.Lower, &l.From}, {f.Range.Upper, &l.To}} {
		p, err := bound(x, end.bound)
		if err != nil {
			return l, false, err
		}
		if p == nil {
			continue
		}
		if *end.value = p[0]; analyze != nil && p[0] != nil {
			*end.value = analyze(p[0])
		}
	}
	return l, true, nil
}
