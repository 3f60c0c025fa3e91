package parser

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser/antlr3"
	"github.com/cqld/cqld/cql/secret"
	"github.com/cqld/cqld/grammar"
)

// builder makes the tree of one text from the contexts of its grammar rules. It keeps the first error.
type builder struct {
	m       *machine
	text    string
	markers int
	built   *builtBatch // of a long batch
	err     *cqlerr.Error
	ended   bool // by a Java exception in Cassandra
}

// fail records a syntax error if it is the first.
func (b *builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = cqlerr.Syntaxf(format, args...)
	}
}

// failJava records an error for which Cassandra throws a Java exception: it ends the parse and replaces earlier
// errors.
func (b *builder) failJava(exception, message string) {
	if !b.ended {
		b.err = cqlerr.Syntaxf("Failed parsing statement: [%s] reason: %s %s", secret.Hide(b.text), exception, message)
		b.ended = true
	}
}

// shown prints a term for a message, or stars if it may contain a password.
func (b *builder) shown(t cql.Term) string { return b.shownAs(t.String(), t) }

// shownAs returns a text made from a term, or stars if the term may contain a password.
func (b *builder) shownAs(text string, t cql.Term) string {
	if t.Position().End > secret.Start(b.text) {
		return secret.Stars
	}
	return text
}

// refuse records a syntax error at a token that the grammar accepts and CQL does not.
func (b *builder) refuse(t antlr.Token, expecting string) {
	if b.err == nil {
		b.err = antlr3.Mismatch(&b.m.tokens, t.GetTokenIndex(), expecting)
	}
}

// noAlternative records a syntax error at a token that must not follow the previous one.
func (b *builder) noAlternative(t antlr.Token) {
	if b.err == nil {
		b.err = antlr3.NoViableAlternative(&b.m.tokens, t.GetTokenIndex()-1, t.GetTokenIndex())
	}
}

func (b *builder) statement(c grammar.IStatementContext) cql.Statement {
	switch {
	case c.GetRead() != nil:
		return b.selectStatement(c.GetRead())
	case c.GetInsert() != nil:
		return b.insert(c.GetInsert())
	case c.GetUpdate() != nil:
		return b.update(c.GetUpdate())
	case c.GetDel() != nil:
		return b.delete(c.GetDel())
	case c.GetBatch() != nil:
		return b.batch(c.GetBatch())
	case c.GetUse() != nil:
		return b.use(c.GetUse())
	case c.GetTruncate() != nil:
		return b.truncate(c.GetTruncate())
	case c.GetCreate() != nil:
		return b.create(c.GetCreate())
	case c.GetAlter() != nil:
		return b.alter(c.GetAlter())
	case c.GetDrop() != nil:
		return b.drop(c.GetDrop())
	case c.GetGrant() != nil:
		return b.grant(c.GetGrant())
	case c.GetRevoke() != nil:
		return b.revoke(c.GetRevoke())
	case c.GetList() != nil:
		return b.list(c.GetList())
	case c.GetIdentity() != nil:
		return b.addIdentity(c.GetIdentity())
	default:
		return b.describe(c.GetDescribe())
	}
}

// span is the position of a rule in the text.
func span(c antlr.ParserRuleContext) cql.Span {
	return cql.Span{Start: c.GetStart().GetStart(), End: c.GetStop().GetStop() + 1}
}

// between is the span from one token to the end of a rule.
func between(start antlr.Token, c antlr.ParserRuleContext) cql.Span {
	return cql.Span{Start: start.GetStart(), End: c.GetStop().GetStop() + 1}
}

// tokenSpan is the position of a token in the text.
func tokenSpan(t antlr.Token) cql.Span {
	return cql.Span{Start: t.GetStart(), End: t.GetStop() + 1}
}

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
			b.m.tokens.Looked = what.GetStart().GetTokenIndex() + 2
			b.refuse(&b.m.tokens.All[what.GetStart().GetTokenIndex()+1], "EOF") // the dot of schema.name
		}
	case what.GetUserType() != nil:
		s.Name = b.userType(what.GetUserType())
	case what.GetFunction() != nil:
		s.Name = b.definedFunction(what.GetFunction())
	}
	return s
}
