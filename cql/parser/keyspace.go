package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) createKeyspace(c grammar.ICreateStatementContext) *cql.CreateKeyspace {
	s := &cql.CreateKeyspace{Span: span(c), IfNotExists: c.GetNotExists() != nil, Name: b.keyspace(c.GetKeyspace())}
	s.Properties = b.properties(c.GetOptions().GetItems())
	return s
}
