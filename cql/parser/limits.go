package parser

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/grammar"
)

// Limits bound the texts that are parsed.
type Limits struct {
	Length  int // bytes of a text
	Nesting int // how deep the tree of a statement can become
}

// DefaultLimits are those of Parse. A request is no longer than half of the length by default, and the length is more
// than any write can be made of. Deeper nesting could exhaust the stack of this process.
var DefaultLimits = Limits{Length: 32 << 20, Nesting: 1000}

// A statement may have so many tokens however short it is, and one more for so many bytes of its text. A token costs
// about 500 bytes while it is parsed, so that both keep to the 40 bytes for each byte of text that docs/limits.md
// promises. Runs of plain terms are one token; each statement in a batch is counted for itself, because what parsing it
// took is free again before the next, but for the tokens.
const (
	freeTokens    = 1 << 15
	bytesPerToken = 16
	batchToken    = 2 // bytes of a batch's text for each token
)

// counting counts the tokens of a text.
type counting struct {
	length    int
	batch     bool
	statement int // where the statement began
}

// add counts a token, the last of so many, and refuses what are too many.
func (c *counting) add(kind int32, tokens int) error {
	switch kind {
	case grammar.CqlLexerK_BEGIN:
		c.batch = c.batch || tokens == 1
	case grammar.CqlLexerK_INSERT, grammar.CqlLexerK_UPDATE, grammar.CqlLexerK_DELETE:
		if c.batch {
			c.statement = tokens
		}
	}
	if tokens-c.statement > freeTokens+c.length/bytesPerToken || tokens > freeTokens+c.length/batchToken {
		return cqlerr.Invalidf("The statement has too many words for its length of %d bytes", c.length)
	}
	return nil
}

// nesting follows how deep the tree of a text becomes, and refuses what is deeper than most. Depth comes from
// brackets and from chains that grow to one side (a + b + c, a.b.c, (int)(int)1); a comma or a further relation or
// statement begins afresh.
type nesting struct {
	most   int
	depth  int
	chains []int // what the innermost open bracket, and each outside it, have added to depth
}

func (n *nesting) reset() { n.depth, n.chains = 0, append(n.chains[:0], 0) }

// add counts a token.
func (n *nesting) add(kind int32) error {
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
	if n.depth > n.most {
		return cqlerr.Syntaxf("The statement is nested deeper than %d levels", n.most)
	}
	return nil
}
