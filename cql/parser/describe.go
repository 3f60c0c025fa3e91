package parser

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

var describeKinds = map[int]cql.DescribeKind{
	grammar.CqlLexerK_CLUSTER:      cql.DescribeCluster,
	grammar.CqlLexerK_SCHEMA:       cql.DescribeSchema,
	grammar.CqlLexerK_KEYSPACES:    cql.DescribeKeyspaces,
	grammar.CqlLexerK_KEYSPACE:     cql.DescribeKeyspace,
	grammar.CqlLexerK_TABLES:       cql.DescribeTables,
	grammar.CqlLexerK_COLUMNFAMILY: cql.DescribeTable,
	grammar.CqlLexerK_INDEX:        cql.DescribeIndex,
	grammar.CqlLexerK_MATERIALIZED: cql.DescribeView,
	grammar.CqlLexerK_TYPES:        cql.DescribeTypes,
	grammar.CqlLexerK_TYPE:         cql.DescribeType,
	grammar.CqlLexerK_FUNCTIONS:    cql.DescribeFunctions,
	grammar.CqlLexerK_FUNCTION:     cql.DescribeFunction,
	grammar.CqlLexerK_AGGREGATES:   cql.DescribeAggregates,
	grammar.CqlLexerK_AGGREGATE:    cql.DescribeAggregate,
}

func (b *builder) describe(c grammar.IDescribeStatementContext) *cql.Describe {
	what := c.GetWhat()
	s := &cql.Describe{
		Span: span(c), Kind: cql.DescribeAny, Internals: c.GetInternals() != nil,
		Full: what.GetFull() != nil, Only: what.GetOnly() != nil,
	}
	if what.GetKind() != nil {
		s.Kind = describeKinds[what.GetKind().GetTokenType()]
	}
	switch {
	case what.GetKeyspace() != nil:
		s.Name.Name = b.keyspace(what.GetKeyspace())
	case what.GetTable() != nil:
		s.Name = b.table(what.GetTable())
		if _, word := describeKinds[what.GetStart().GetTokenType()]; word && what.GetKind() == nil && s.Name.Keyspace != "" {
			b.m.tokens.looked = what.GetStart().GetTokenIndex() + 2
			b.refuse(&b.m.tokens.all[what.GetStart().GetTokenIndex()+1], "EOF") // the dot of schema.name
		}
	case what.GetUserType() != nil:
		s.Name = b.userType(what.GetUserType())
	case what.GetFunction() != nil:
		s.Name = b.definedFunction(what.GetFunction())
	}
	return s
}
