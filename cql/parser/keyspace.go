package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

// create builds CREATE KEYSPACE or CREATE TABLE.
func (b *builder) create(c grammar.ICreateStatementContext) cql.Statement {
	if c.GetTable() != nil {
		return b.createTable(c)
	}
	s := &cql.CreateKeyspace{Span: span(c), IfNotExists: c.GetNotExists() != nil, Name: b.keyspace(c.GetKeyspace())}
	s.Properties = b.properties(c.GetOptions().GetItems())
	return s
}

// drop builds DROP KEYSPACE or DROP TABLE.
func (b *builder) drop(c grammar.IDropStatementContext) cql.Statement {
	exists := c.GetExists() != nil
	if c.GetTable() != nil {
		return &cql.DropTable{Span: span(c), IfExists: exists, Table: b.table(c.GetTable())}
	}
	return &cql.DropKeyspace{Span: span(c), IfExists: exists, Name: b.keyspace(c.GetKeyspace())}
}
