package exec

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// maxSASITerm is how many bytes are too many for a term of an SSTable-attached index.
const maxSASITerm = 1024

// sasiCondition is a filter whose values an SSTable-attached index compares: as text, if it is for text.
func sasiCondition(x *expr.Context, f *where.Filter) (condition, error) {
	c := f.Columns()[0]
	mode := f.Index.SASIMode(c)
	if f.Like != nil {
		return likeCondition(x, f.Like)
	}
	if !mode.Literal || f.Choice == nil {
		plain := *f
		plain.Index = nil
		test, err := filterCondition(x, &plain)
		return func(row [][]byte) (bool, error) {
			if len(row[c.Index]) == 0 {
				return false, nil
			}
			return test(row)
		}, err
	}
	ps, err := filterPoints(x, f.Choice)
	if err != nil {
		return nil, err
	}
	return termsLike(mode, c.Index, ps[0][0], bytes.Equal)
}

// pattern is a way in which a term can be like what is looked for.
type pattern struct {
	text   string // of error messages
	served func(schema.SASIMode) bool
	match  func(term, part []byte) bool
}

// The patterns of LIKE. Which of them an index serves depends on its mode.
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

// likeCondition is for LIKE.
func likeCondition(x *expr.Context, l *where.Like) (condition, error) {
	v, err := l.Value.Eval(x)
	if err != nil {
		return nil, err
	}
	if err := checkFilterValue(v, l.Column); err != nil {
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

// likePattern splits a value into the pattern and what is looked for.
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

// termsLike asks that each term that is looked for is like a term of the value. Values of no bytes have none.
func termsLike(m schema.SASIMode, column int, part []byte, match func(term, part []byte) bool) (condition, error) {
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
