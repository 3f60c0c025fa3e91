package parser

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) batch(c grammar.IBatchStatementContext) *cql.Batch {
	s := &cql.Batch{Span: span(c)}
	switch {
	case isToken(c.GetKind(), grammar.CqlLexerK_UNLOGGED):
		s.Kind = cql.UnloggedBatch
	case isToken(c.GetKind(), grammar.CqlLexerK_COUNTER):
		s.Kind = cql.CounterBatch
	}
	if built := b.built; built != nil {
		s.Using, s.Statements = built.using, built.statements
		return s
	}
	s.Using = b.using(c.GetUsing())
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

// builtBatch is what has been built of a long batch while it is parsed. The contexts of each statement are given up as
// soon as it is built, so that there are never those of all of them.
type builtBatch struct {
	antlr.BaseParseTreeListener
	b          builder
	begun      bool
	using      cql.Using
	statements []cql.Statement
}

// longBatch is the length from which the text of a batch is built while it is parsed.
const longBatch = 4 << 10

// batchListener returns what builds the text of a batch that is long, or nil.
func (m *machine) batchListener() *builtBatch {
	if len(m.input.text) < longBatch || !m.tokens.is(0, grammar.CqlLexerK_BEGIN) {
		return nil
	}
	return &builtBatch{b: builder{m: m, text: m.input.text}}
}

// ExitEveryRule is called behind each rule.
func (l *builtBatch) ExitEveryRule(c antlr.ParserRuleContext) {
	item, ok := c.(*grammar.ModificationContext)
	if !ok {
		return
	}
	batch := item.GetParent().(*grammar.BatchStatementContext)
	if !l.begun {
		l.begun, l.using = true, l.b.using(batch.GetUsing())
	}
	l.statements = append(l.statements, l.b.modification(item))
	item.SetInsert(nil)
	item.SetUpdate(nil)
	item.SetDel(nil)
	batch.SetStatements(nil)
}
