package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) update(c grammar.IUpdateStatementContext) *cql.Update {
	s := &cql.Update{Span: span(c), Table: b.table(c.GetTable()), Using: b.using(c.GetUsing())}
	s.Set = b.assignments(c.GetAssignments())
	s.Where, s.Custom = b.where(c.GetWhere())
	s.If = b.conditions(c.GetConditions())
	return s
}
