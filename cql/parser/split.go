package parser

import (
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/grammar"
)

// Piece is one statement of a script.
type Piece struct {
	Text string
	Line int // on which it begins, counted from 1
}

// Split cuts a script into statements at the semicolons outside strings, comments and batches. The
// statements come without their semicolons, without the comments before them, and without what has no words
// in it. A comment behind the last one stays, and has no end of line.
func Split(script string) []Piece {
	m := machines.Get().(*machine)
	defer m.release()
	m.load(script + "\n") // the end of the last line ends a comment on it
	var out []Piece
	var first *lexeme // word of the statement
	line, counted := 1, 0
	batch := false
	all := m.tokens.all
	for i := range all {
		t := &all[i]
		switch t.GetTokenType() {
		case grammar.CqlLexerK_BEGIN:
			batch = batch || first == nil
		case grammar.CqlLexerK_BATCH:
			if batch && isToken(&all[max(i-1, 0)], grammar.CqlLexerK_APPLY) {
				batch = false
			}
		case grammar.CqlLexerSEMICOLON, antlr.TokenEOF:
			if batch && t.GetTokenType() != antlr.TokenEOF {
				continue
			}
			if first != nil {
				end := min(t.GetStart(), len(script))
				line += strings.Count(script[counted:first.start], "\n")
				counted = int(first.start)
				out = append(out, Piece{strings.TrimSpace(script[first.start:end]), line})
			}
			first = nil
			continue
		}
		if first == nil {
			first = t
		}
	}
	return out
}
