package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) batch(c grammar.IBatchStatementContext) *cql.Batch {
	s := &cql.Batch{Span: span(c), Using: b.using(c.GetUsing())}
	switch {
	case isToken(c.GetKind(), grammar.CqlLexerK_UNLOGGED):
		s.Kind = cql.UnloggedBatch
	case isToken(c.GetKind(), grammar.CqlLexerK_COUNTER):
		s.Kind = cql.CounterBatch
	}
	for _, item := range c.GetStatements() {
		s.Statements = append(s.Statements, b.modification(item))
	}
	return s
}

func (b *builder) modification(c grammar.IModificationContext) cql.Statement {
	switch {
	case c.GetInsert() != nil:
		return b.insert(c.GetInsert())
	case c.GetUpdate() != nil:
		return b.update(c.GetUpdate())
	default:
		return b.delete(c.GetDel())
	}
}
