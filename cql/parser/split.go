package parser

import (
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/grammar"
)

// Split cuts a script into statements at the semicolons outside strings, comments and batches. The
// statements come without their semicolons and without what has no words in it; comments inside and before
// a statement stay.
func Split(script string) []string {
	m := machines.Get().(*machine)
	defer m.release()
	m.load(script + "\n") // the end of the last line ends a comment on it
	var out []string
	var start, words int
	batch := false
	all := m.tokens.all
	for i, t := range all {
		switch t.GetTokenType() {
		case grammar.CqlLexerK_BEGIN:
			batch = batch || words == 0
		case grammar.CqlLexerK_BATCH:
			if batch && isToken(all[max(i-1, 0)], grammar.CqlLexerK_APPLY) {
				batch = false
			}
		case grammar.CqlLexerSEMICOLON, antlr.TokenEOF:
			if batch && t.GetTokenType() != antlr.TokenEOF {
				continue
			}
			if end := min(t.GetStart(), len(script)); words > 0 {
				out = append(out, strings.TrimSpace(script[start:end]))
			}
			start, words = t.GetStop()+1, 0
			continue
		}
		words++
	}
	return out
}
