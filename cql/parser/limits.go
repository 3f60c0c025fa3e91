package parser

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/grammar"
)

// maxLength is the longest text that is parsed, as long as a frame of the protocol may be.
const maxLength = 256 << 20

// maxNesting bounds how deep the tree of a statement can become, so that no text can exhaust the stack
// of this process.
const maxNesting = 1000

// checkNesting refuses a text whose tree could become deeper than maxNesting. Depth comes from brackets
// and from chains that grow to one side (a + b + c, a.b.c, (int)(int)1); a comma or a further relation or
// statement begins afresh.
func checkNesting(all []antlr.Token) error {
	depth := 0
	chains := []int{0} // what the innermost open bracket, and each outside it, have added to depth
	for _, t := range all {
		last := len(chains) - 1
		switch t.GetTokenType() {
		case grammar.CqlLexerLPAREN, grammar.CqlLexerLBRACKET, grammar.CqlLexerLBRACE, grammar.CqlLexerLT,
			grammar.CqlLexerEXPR_PAREN:
			chains[last]++
			depth++
			chains = append(chains, 0)
		case grammar.CqlLexerRPAREN, grammar.CqlLexerRBRACKET, grammar.CqlLexerRBRACE, grammar.CqlLexerGT:
			if last > 0 {
				depth -= chains[last]
				chains = chains[:last]
			}
		case grammar.CqlLexerPLUS, grammar.CqlLexerMINUS, grammar.CqlLexerSTAR, grammar.CqlLexerSLASH,
			grammar.CqlLexerPERCENT, grammar.CqlLexerDOT:
			chains[last]++
			depth++
		case grammar.CqlLexerCOMMA, grammar.CqlLexerSEMICOLON, grammar.CqlLexerK_AND, grammar.CqlLexerK_INSERT,
			grammar.CqlLexerK_UPDATE, grammar.CqlLexerK_DELETE:
			depth -= chains[last]
			chains[last] = 0
		}
		if depth > maxNesting {
			return cqlerr.Syntaxf("The statement is nested deeper than %d levels", maxNesting)
		}
	}
	return nil
}
