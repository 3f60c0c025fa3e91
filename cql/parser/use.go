package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) use(c grammar.IUseStatementContext) *cql.Use {
	return &cql.Use{Span: span(c), Keyspace: b.keyspace(c.GetKeyspace())}
}
