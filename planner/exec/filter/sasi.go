package filter

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// maxSASITerm is the number of bytes from which on an SSTable-attached index leaves a term out.
const maxSASITerm = 1024

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
	return termsLike(mode, c.Index, ps[0][0], bytes.Equal)
}

// pattern is a form of LIKE patterns: where the % stands.
type pattern struct {
	text   string // in error messages
	served func(schema.SASIMode) bool
	match  func(term, part []byte) bool
}

// The forms of LIKE patterns. The mode of an index decides which of them it serves.
var (
	likeContains = &pattern{"'%<term>%'", func(m schema.SASIMode) bool { return m.Mode == "CONTAINS" }, bytes.Contains}
	likeSuffix   = &pattern{"'%<term>'", func(m schema.SASIMode) bool { return m.Mode == "CONTAINS" }, bytes.HasSuffix}
	likePrefix   = &pattern{
		"'<term>%'", func(m schema.SASIMode) bool {
			return m.Mode == "PREFIX" || m.Mode == "CONTAINS" && !m.Tokenizes()
		}, bytes.HasPrefix,
	}
	likeWhole = &pattern{"'<term>'", func(m schema.SASIMode) bool { return m.Mode != "SPARSE" }, bytes.Equal}
)

// likeCondition is the condition of LIKE.
func likeCondition(x *expr.Context, l *where.Like) (Condition, error) {
	v, err := l.Value.Eval(x)
	if err != nil {
		return nil, err
	}
	if err := CheckValue(v, l.Column); err != nil {
		return nil, err
	}
	how, part, err := likePattern(v.Bytes)
	if err != nil {
		return nil, err
	}
	for _, index := range l.Indexes {
		if mode := index.SASIMode(l.Column); how.served(mode) {
			return termsLike(mode, l.Column.Index, part, how.match)
		}
	}
	shown := string(part)
	if l.Column.Type != types.Text && l.Column.Type != types.ASCII {
		shown = l.Column.Type.Format(part)
	}
	return nil, cqlerr.Invalidf("%s LIKE %s %s is only supported on properly indexed columns", l.Column.Name, how.text, shown)
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

// termsLike is the condition that every wanted term matches a term of the value. Values of no bytes have no terms.
func termsLike(m schema.SASIMode, column int, part []byte, match func(term, part []byte) bool) (Condition, error) {
	wanted, err := sasiTerms(m, part)
	if err != nil {
		return nil, err
	}
	return func(row [][]byte) (bool, error) {
		if len(row[column]) == 0 {
			return false, nil
		}
		terms, err := sasiTerms(m, row[column])
		for _, want := range wanted {
			like := func(term []byte) bool { return len(term) < maxSASITerm && match(term, want) }
			if !slices.ContainsFunc(terms, like) {
				return false, err
			}
		}
		return err == nil && len(wanted) > 0, err
	}, nil
}

// sasiTerms are the terms of a value.
func sasiTerms(m schema.SASIMode, value []byte) ([][]byte, error) {
	switch m.Analyzer {
	case schema.DelimiterAnalyzer:
		delimiter, ok := m.Options["delimiter"]
		if !ok {
			delimiter = ","
		}
		var terms [][]byte
		for _, term := range bytes.Split(value, []byte(delimiter)) {
			if len(term) > 0 {
				terms = append(terms, term)
			}
		}
		return terms, nil
	case schema.NonTokenizingAnalyzer:
		term, err := foldSASI(m, value)
		return [][]byte{term}, err
	}
	return [][]byte{value}, nil
}
