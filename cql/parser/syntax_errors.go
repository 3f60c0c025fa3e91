package parser

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/grammar"
)

// reporter is the error strategy: it ends the parse at the first error and says it
// as Cassandra does. Cassandra's parser is made by another generation of ANTLR, which decides at other
// places that something is wrong; decisions.go makes up for that.
type reporter struct {
	*antlr.DefaultErrorStrategy
	m *machine
}

// ReportMatch has nothing to do: there is no recovery that a match would end.
func (*reporter) ReportMatch(antlr.Parser) {}

// Sync is called before a loop and an optional part. Where Cassandra decides there whether the next token
// may follow at all, so does this; and where it may, Cassandra has looked at the token behind it too.
func (r *reporter) Sync(p antlr.Parser) {
	rule := ruleOf(p)
	if rule >= len(followDecisions) || followDecisions[rule] == nil {
		return
	}
	next := r.m.tokens.LA(1)
	start, follow := followDecisions[rule](p.GetParserRuleContext(), &r.m.tokens)
	if start < 0 {
		return
	}
	if !follow.has(next) && !expected(p, next) {
		if rule == grammar.CqlParserRULE_selectOperand {
			r.m.tokens.LT(2)
		}
		r.refuse(p.GetParserRuleContext(), start, r.m.tokens.pos)
	}
	r.m.tokens.LT(2)
}

// RecoverInline is called for a token that is not the one that must be here.
func (r *reporter) RecoverInline(p antlr.Parser) antlr.Token {
	pos := r.m.tokens.pos
	wanted := antlr.TokenInvalidType
	if sets := p.GetExpectedTokens().GetIntervals(); len(sets) == 1 && sets[0].Stop-sets[0].Start == 1 {
		wanted = sets[0].Start
	}
	c := p.GetParserRuleContext()
	if ruleOf(p) == grammar.CqlParserRULE_selectArgs && r.m.tokens.is(pos-1, grammar.CqlLexerK_TOKEN) {
		r.m.tokens.LT(2)
	}
	if start := matchStart(c, &r.m.tokens, wanted); start >= 0 {
		r.refuse(c, start, pos)
	}
	if wanted == antlr.TokenInvalidType {
		r.refuse(c, pos, pos)
	}
	r.fail(c, r.m.mismatch(pos, expectedName(p, wanted)))
	return nil
}

// ReportError is called when no alternative takes the next tokens.
func (r *reporter) ReportError(p antlr.Parser, _ antlr.RecognitionException) {
	c := p.GetParserRuleContext()
	r.refuse(c, blockStart(c, &r.m.tokens), max(r.m.tokens.pos, r.m.tokens.sought))
}

// refuse ends the parse: the decision that began at the token start found no alternative at failed.
func (r *reporter) refuse(c antlr.ParserRuleContext, start, failed int) {
	r.fail(c, r.m.noViableAlternative(start, failed))
}

// fail ends the parse in the rule c with an error, unless an earlier one is found in the rules around it.
func (r *reporter) fail(c antlr.ParserRuleContext, err *cqlerr.Error) {
	for tree := antlr.Tree(c); tree != nil; tree = tree.GetParent() {
		switch around := tree.(type) {
		case *grammar.SelectSuffixContext:
			if around.GetStart().GetTokenType() == grammar.CqlLexerLBRACKET {
				err = r.m.mismatch(startIndex(around), "K_FROM")
			}
		case *grammar.SelectHeadContext:
			if word := startIndex(around); r.isMereColumn(word) {
				err = r.m.noViableAlternative(word, word+1)
			}
		case *grammar.UpdateStatementContext:
			if earlier := r.assignments(around); earlier != nil {
				err = earlier
			}
		case *grammar.BatchStatementContext:
			if earlier := r.statements(around); earlier != nil {
				err = earlier
			}
		}
	}
	panic(failure{err})
}

// isMereColumn reports whether the token is JSON or DISTINCT and Cassandra takes it for a column after what
// follows turned out to be no list to select: then the next token cannot follow it.
func (r *reporter) isMereColumn(word int) bool {
	switch all := r.m.tokens.all; all[word].GetTokenType() {
	case grammar.CqlLexerK_JSON, grammar.CqlLexerK_DISTINCT:
		switch next := all[word+1].GetTokenType(); next {
		case grammar.CqlLexerLPAREN, grammar.CqlLexerLBRACKET, grammar.CqlLexerDOT:
			return false
		default:
			return !afterSelection.has(next)
		}
	}
	return false
}

// assignments returns what is wrong with the assignments before the place of an error: Cassandra checks
// each as soon as it is parsed.
func (r *reporter) assignments(c *grammar.UpdateStatementContext) *cqlerr.Error {
	b := builder{m: r.m, text: r.m.input.text}
	all := c.GetAssignments()
	if addsColumn(c) {
		last := all[len(all)-1]
		next := last.GetStop().GetTokenIndex() + 1
		if !r.m.tokens.is(next, grammar.CqlLexerK_WHERE) && !r.m.tokens.is(next, grammar.CqlLexerCOMMA) {
			all = all[:len(all)-1] // + and the column could not follow
		}
	}
	b.assignments(all)
	return b.err
}

// statements returns what is wrong with the statements of a batch before the place of an error.
func (r *reporter) statements(c *grammar.BatchStatementContext) *cqlerr.Error {
	if built := r.m.built; built != nil {
		return built.b.err // its statements are given up
	}
	b := builder{m: r.m, text: r.m.input.text}
	for _, item := range c.GetStatements() {
		b.modification(item)
	}
	return b.err
}

func ruleOf(p antlr.Parser) int { return p.GetParserRuleContext().GetRuleIndex() }

// expected reports whether the parser could take a token where it stands.
func expected(p antlr.Parser, token int) bool {
	for _, i := range p.GetExpectedTokens().GetIntervals() {
		if i.Start <= token && token < i.Stop {
			return true
		}
	}
	return false
}

// expectedName is the name of a token as messages have it: EOF, K_FROM, '('.
func expectedName(p antlr.Parser, token int) string {
	if token == antlr.TokenEOF {
		return "EOF"
	}
	if name := p.GetSymbolicNames()[token]; len(name) > 1 && name[:2] == "K_" {
		return name
	}
	if literals := p.GetLiteralNames(); token < len(literals) && literals[token] != "" {
		return literals[token]
	}
	return p.GetSymbolicNames()[token]
}

// mismatch says that the token at pos is not the one that must follow.
func (m *machine) mismatch(pos int, expecting string) *cqlerr.Error {
	return cqlerr.Syntaxf("%s mismatched input '%s' expecting %s%s", m.at(pos), m.shown(pos), expecting, m.snippet(pos))
}

// noViableAlternative says that nothing can go on with the token at failed; the snippet marks the token at
// start, where it was to be decided how to go on.
func (m *machine) noViableAlternative(start, failed int) *cqlerr.Error {
	return cqlerr.Syntaxf("%s no viable alternative at input '%s'%s", m.at(failed), m.shown(failed), m.snippet(start))
}
