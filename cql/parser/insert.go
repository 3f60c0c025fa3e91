package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) insert(c grammar.IInsertStatementContext) *cql.Insert {
	s := &cql.Insert{Span: span(c), Table: b.table(c.GetTable())}
	switch value := c.GetValue(); {
	case value == nil:
		s.Columns = columns(b, c.GetColumns())
		s.Values = b.each(c.GetValues())
	case value.GetBind() != nil:
		s.JSON = b.marker(value.GetBind())
	default:
		s.JSON = b.stringToken(value.GetLiteral())
	}
	s.DefaultUnset = c.GetUnset() != nil
	s.If.NotExists = c.GetNotExists() != nil
	s.Using = b.using(c.GetUsing())
	return s
}
