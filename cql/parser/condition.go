package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

// conditions builds the IF clause of UPDATE and DELETE, which may be missing.
func (b *builder) conditions(c grammar.IIfClauseContext) cql.Conditions {
	var out cql.Conditions
	if c == nil {
		return out
	}
	out.Exists = c.GetExists() != nil
	for _, item := range c.GetConditions() {
		out.List = append(out.List, b.condition(item))
	}
	return out
}

func (b *builder) condition(c grammar.IConditionContext) cql.Condition {
	out := cql.Condition{Span: span(c), Column: b.column(c.GetColumn())}
	if c.GetElement() != nil {
		out.Key = b.term(c.GetElement())
	}
	if c.GetField() != nil {
		out.Field = b.name(c.GetField())
	}
	test := c.GetTest()
	switch {
	case test == nil:
		out.Op = contains(c.GetKey())
		out.Value = b.term(c.GetValue())
	case test.GetIn() != nil:
		out.Op = cql.In
		out.Value, out.Values = b.inValues(test.GetValues())
	default:
		out.Op = operator(test.GetOp())
		out.Value = b.term(test.GetValue())
	}
	return out
}
