package parser

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/secret"
	"github.com/cqld/cqld/grammar"
)

// builder makes the tree of one text from the contexts of its grammar rules. It remembers the first rule
// of Cassandra's grammar that was broken.
type builder struct {
	m       *machine
	text    string
	markers int
	built   *builtBatch // of a long batch
	err     *cqlerr.Error
	ended   bool // by an exception of Java in Cassandra
}

// fail remembers the first error.
func (b *builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = cqlerr.Syntaxf(format, args...)
	}
}

// failJava remembers an error that in Cassandra is an exception of Java while it parses: it ends the parse, and
// what was wrong before is not told.
func (b *builder) failJava(exception, message string) {
	if !b.ended {
		b.err = cqlerr.Syntaxf("Failed parsing statement: [%s] reason: %s %s", secret.Hide(b.text), exception, message)
		b.ended = true
	}
}

// shown is a term as messages have it, unless it may tell a password.
func (b *builder) shown(t cql.Term) string { return b.shownAs(t.String(), t) }

// shownAs is a text that was made of a term, unless the term may tell a password.
func (b *builder) shownAs(text string, t cql.Term) string {
	if t.Position().End > secret.Start(b.text) {
		return secret.Stars
	}
	return text
}

// refuse remembers a syntax error at a token that the grammar takes and the language does not.
func (b *builder) refuse(t antlr.Token, expecting string) {
	if b.err == nil {
		b.err = b.m.mismatch(t.GetTokenIndex(), expecting)
	}
}

// noAlternative remembers a syntax error at a token that may not follow the one before it.
func (b *builder) noAlternative(t antlr.Token) {
	if b.err == nil {
		b.err = b.m.noViableAlternative(t.GetTokenIndex()-1, t.GetTokenIndex())
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

// span is where a rule stands in the text.
func span(c antlr.ParserRuleContext) cql.Span {
	return cql.Span{Start: c.GetStart().GetStart(), End: c.GetStop().GetStop() + 1}
}

// between is the span from one token to the end of a rule.
func between(start antlr.Token, c antlr.ParserRuleContext) cql.Span {
	return cql.Span{Start: start.GetStart(), End: c.GetStop().GetStop() + 1}
}

// tokenSpan is where a token stands in the text.
func tokenSpan(t antlr.Token) cql.Span {
	return cql.Span{Start: t.GetStart(), End: t.GetStop() + 1}
}
