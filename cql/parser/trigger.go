package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) createTrigger(at grammar.ICreateStatementContext) *cql.CreateTrigger {
	c := at.GetTrigger()
	return &cql.CreateTrigger{
		Span:        span(at),
		IfNotExists: c.GetNotExists() != nil,
		Name:        b.name(c.GetName()),
		Table:       b.table(c.GetTable()),
		Class:       stringContent(b.word(c.GetClass())),
	}
}
