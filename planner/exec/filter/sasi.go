package filter

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/cql/analysis"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
	"github.com/cqld/cqld/store"
)

// sasiCondition is the condition of a filter that an SSTable-attached index serves. The index compares text by terms,
// and other values as their types do.
func sasiCondition(x *expr.Context, f *where.Filter) (Condition, error) {
	c := f.Columns()[0]
	mode := f.Index.SASIMode(c)
	if f.Like != nil {
		return likeCondition(x, f.Like)
	}
	if !mode.Literal || f.Choice == nil {
		plain := *f
		plain.Index = nil
		test, err := newCondition(x, &plain)
		return func(row [][]byte) (bool, error) {
			if len(row[c.Index]) == 0 {
				return false, nil
			}
			return test(row)
		}, err
	}
	ps, err := points(x, f.Choice)
	if err != nil {
		return nil, err
	}
	return termsLike(mode, c.Index, ps[0][0], likeWhole.match), nil
}

// pattern is a form of LIKE patterns: the places of %.
type pattern struct {
	text   string // in error messages
	served func(schema.SASIMode) bool
	match  func(term, part []byte) bool
	how    store.Match // which entries of an index have it
}

// The forms of LIKE patterns. The mode of an index decides which of them it serves.
var (
	likeContains = &pattern{"'%<term>%'", func(m schema.SASIMode) bool { return m.Mode == "CONTAINS" }, bytes.Contains, store.MatchInside}
	likeSuffix   = &pattern{"'%<term>'", func(m schema.SASIMode) bool { return m.Mode == "CONTAINS" }, bytes.HasSuffix, store.MatchEnd}
	likePrefix   = &pattern{
		"'<term>%'", func(m schema.SASIMode) bool {
			return m.Mode == "PREFIX" || m.Mode == "CONTAINS" && !m.Tokenizes()
		}, bytes.HasPrefix, store.MatchBeginning,
	}
	likeWhole = &pattern{"'<term>'", func(m schema.SASIMode) bool { return m.Mode != "SPARSE" }, bytes.Equal, store.MatchWhole}
)

// likeCondition is the condition of LIKE.
func likeCondition(x *expr.Context, l *where.Like) (Condition, error) {
	index, how, part, err := likeIndex(x, l)
	if err != nil {
		return nil, err
	}
	return termsLike(index.SASIMode(l.Column), l.Column.Index, part, how.match), nil
}

// likeIndex evaluates the pattern of LIKE, and returns the index that serves it with the text to look for.
func likeIndex(x *expr.Context, l *where.Like) (*schema.Index, *pattern, []byte, error) {
	v, err := l.Value.Eval(x)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := CheckValue(v, l.Column); err != nil {
		return nil, nil, nil, err
	}
	how, part, err := likePattern(v.Bytes)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, index := range l.Indexes {
		if how.served(index.SASIMode(l.Column)) {
			return index, how, part, nil
		}
	}
	shown := string(part)
	if l.Column.Type != types.Text && l.Column.Type != types.ASCII {
		shown = l.Column.Type.Format(part)
	}
	return nil, nil, nil, cqlerr.Invalidf("%s LIKE %s %s is only supported on properly indexed columns", l.Column.Name,
		how.text, shown)
}

// likePattern splits a value into its form and the text to look for.
func likePattern(value []byte) (*pattern, []byte, error) {
	rest, open := bytes.CutSuffix(value, []byte("%"))
	how := likeWhole
	if begins := bytes.HasPrefix(value, []byte("%")); begins && open {
		how = likeContains
	} else if begins {
		how = likeSuffix
	} else if open {
		how = likePrefix
	}
	part := rest
	if how == likeContains || how == likeSuffix {
		part = bytes.TrimPrefix(rest, []byte("%"))
	}
	if len(part) == 0 {
		return nil, nil, cqlerr.Invalidf("LIKE value can't be empty.")
	}
	return how, part, nil
}

// termsLike is the condition that every wanted term matches a term of the value.
func termsLike(m schema.SASIMode, column int, part []byte, match func(term, part []byte) bool) Condition {
	wanted := analysis.ForSASI(m, part)
	return func(row [][]byte) (bool, error) {
		terms := analysis.ForSASI(m, row[column])
		for _, want := range wanted {
			like := func(term []byte) bool { return len(term) < analysis.MaxSASITerm && match(term, want) }
			if !slices.ContainsFunc(terms, like) {
				return false, nil
			}
		}
		return len(wanted) > 0, nil
	}
}
