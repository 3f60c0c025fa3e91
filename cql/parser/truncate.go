package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) truncate(c grammar.ITruncateStatementContext) *cql.Truncate {
	return &cql.Truncate{Span: span(c), Table: b.table(c.GetTable())}
}
