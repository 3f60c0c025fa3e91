package stream

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/grammar"
)

// A statement may have freeTokens tokens, and one more per bytesPerToken bytes of its text. Parsing a token takes
// about 500 bytes, which keeps the limit of 40 bytes per byte of text in docs/limits.md. A run of plain terms is one
// token. Each statement of a batch is counted alone, because its memory, apart from the tokens, is free before the
// next one.
const (
	freeTokens         = 1 << 15
	bytesPerToken      = 16
	bytesPerBatchToken = 2
)

// counting counts the tokens of a text.
type counting struct {
	length    int
	batch     bool
	statement int // index of the first token of the statement
}

// check counts a token and refuses it if there are too many.
func (c *counting) check(kind int32, tokens int) error {
	switch kind {
	case grammar.CqlLexerK_BEGIN:
		c.batch = c.batch || tokens == 1
	case grammar.CqlLexerK_INSERT, grammar.CqlLexerK_UPDATE, grammar.CqlLexerK_DELETE:
		if c.batch {
			c.statement = tokens
		}
	}
	if tokens-c.statement > freeTokens+c.length/bytesPerToken || tokens > freeTokens+c.length/bytesPerBatchToken {
		return cqlerr.Invalidf("The statement has too many words for its length of %d bytes", c.length)
	}
	return nil
}

// nesting computes the depth of the syntax tree and refuses one deeper than maxDepth. Brackets add depth, and so do
// chains that grow to one side (a + b + c, a.b.c, (int)(int)1), which end at a comma, relation or statement.
type nesting struct {
	maxDepth int
	depth    int
	chains   []int // for each open bracket, the depth that its chain has added
}

func (n *nesting) reset() { n.depth, n.chains = 0, append(n.chains[:0], 0) }

// check counts a token.
func (n *nesting) check(kind int32) error {
	last := len(n.chains) - 1
	switch kind {
	case grammar.CqlLexerLPAREN, grammar.CqlLexerLBRACKET, grammar.CqlLexerLBRACE, grammar.CqlLexerLT,
		grammar.CqlLexerEXPR_PAREN:
		n.chains[last]++
		n.depth++
		n.chains = append(n.chains, 0)
	case grammar.CqlLexerRPAREN, grammar.CqlLexerRBRACKET, grammar.CqlLexerRBRACE, grammar.CqlLexerGT:
		if last > 0 {
			n.depth -= n.chains[last]
			n.chains = n.chains[:last]
		}
	case grammar.CqlLexerPLUS, grammar.CqlLexerMINUS, grammar.CqlLexerSTAR, grammar.CqlLexerSLASH,
		grammar.CqlLexerPERCENT, grammar.CqlLexerDOT:
		n.chains[last]++
		n.depth++
	case grammar.CqlLexerCOMMA, grammar.CqlLexerSEMICOLON, grammar.CqlLexerK_AND, grammar.CqlLexerK_INSERT,
		grammar.CqlLexerK_UPDATE, grammar.CqlLexerK_DELETE:
		n.depth -= n.chains[last]
		n.chains[last] = 0
	}
	if n.depth > n.maxDepth {
		return cqlerr.Syntaxf("The statement is nested deeper than %d levels", n.maxDepth)
	}
	return nil
}
