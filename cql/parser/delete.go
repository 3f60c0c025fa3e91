package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) delete(c grammar.IDeleteStatementContext) *cql.Delete {
	s := &cql.Delete{Span: span(c)}
	for _, target := range c.GetTargets() {
		t := cql.DeleteTarget{Span: span(target), Column: b.column(target.GetColumn())}
		if target.GetElement() != nil {
			t.Key = b.term(target.GetElement())
		}
		if target.GetField() != nil {
			t.Field = b.name(target.GetField())
		}
		s.Targets = append(s.Targets, t)
	}
	s.Table = b.table(c.GetTable())
	s.Using.Timestamp = b.limit(c.GetTimestamp())
	s.Where, s.Custom = b.where(c.GetWhere())
	s.If = b.conditions(c.GetConditions())
	return s
}
