package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) assignments(contexts []grammar.IAssignmentContext) []cql.Assignment {
	out := make([]cql.Assignment, len(contexts))
	set := map[string]*assignedParts{}
	for i, c := range contexts {
		out[i] = b.assignment(c)
		b.checkCompatible(set, out[i])
	}
	return out
}

func (b *builder) assignment(c grammar.IAssignmentContext) cql.Assignment {
	a := cql.Assignment{Span: span(c), Column: b.column(c.GetColumn())}
	switch {
	case c.GetPlain() != nil:
		b.assigned(&a, c.GetPlain())
		return a
	case c.GetElement() != nil:
		a.Key = b.term(c.GetElement())
	case c.GetField() != nil:
		a.Field = b.name(c.GetField())
	case isToken(c.GetShorthand(), grammar.CqlLexerPLUS_EQ):
		a.Op = cql.Append
	default:
		a.Op = cql.Subtract
	}
	a.Value = b.term(c.GetValue())
	return a
}

// assigned builds what follows column =. A column on the right must be the one on the left.
func (b *builder) assigned(a *cql.Assignment, c grammar.IAssignedValueContext) {
	other := c.GetColumn()
	same := other == nil || b.name(other) == a.Column.Name
	switch {
	case c.GetSign() != nil:
		a.Op = cql.Append
		if isToken(c.GetSign(), grammar.CqlLexerMINUS) {
			a.Op = cql.Subtract
		}
		a.Value = b.term(c.GetValue())
		if !same {
			b.fail("Only expressions of the form X = X %s<value> are supported.", b.word(c.GetSign()))
		}
	case c.GetNumber() != nil:
		a.Op = cql.Append
		a.Value = b.literalToken(c.GetNumber(), cql.IntegerLiteral)
		if !same {
			b.fail("Only expressions of the form X = X %c <value> are supported.", sign(b.word(c.GetNumber())))
		}
	default:
		a.Value = b.sum(c.GetSum().GetFirst(), c.GetSum().GetRest())
		if other != nil {
			a.Op = cql.Prepend
		}
		if !same {
			b.fail("Only expressions of the form X = <value> + X are supported.")
		}
	}
}

// sign is the sign of an integer as written: c = c -3.
func sign(number string) byte {
	if number[0] == '-' {
		return '-'
	}
	return '+'
}

// assignedParts is what of a column the assignments so far set.
type assignedParts struct {
	whole  bool
	fields map[string]bool
}

// checkCompatible refuses an assignment to a column that an earlier one sets as a whole, or the reverse.
// Elements and additions may be repeated, fields only if they differ.
func (b *builder) checkCompatible(set map[string]*assignedParts, a cql.Assignment) {
	earlier := set[a.Column.Name]
	if earlier == nil {
		earlier = &assignedParts{fields: map[string]bool{}}
		set[a.Column.Name] = earlier
	} else if earlier.whole || isWhole(a) || earlier.fields[a.Field] {
		b.fail("Multiple incompatible setting of column %s", a.Column.Name)
	}
	earlier.whole = earlier.whole || isWhole(a)
	if a.Field != "" {
		earlier.fields[a.Field] = true
	}
}

// isWhole reports whether an assignment replaces its column.
func isWhole(a cql.Assignment) bool { return a.Op == cql.Assign && a.Key == nil && a.Field == "" }
