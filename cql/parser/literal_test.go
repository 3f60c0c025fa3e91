package parser

import (
	"testing"

	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql/parser/stream"
)

// The token stream skips literals without the lexer. All short texts of characters that matter to literals have the
// tokens that the lexer finds.
func TestLiteralsAreTokensOfTheLexer(t *testing.T) {
	const characters, length = "'$0xg", 6
	m := machines.Get().(*machine)
	defer m.release()
	text := make([]byte, length)
	var check func(int)
	check = func(n int) {
		if n < length {
			for _, c := range []byte(characters) {
				text[n] = c
				check(n + 1)
			}
			return
		}
		m.load(string(text))
		in := stream.NewInput(string(text))
		for _, token := range m.tokens.All[:len(m.tokens.All)-1] {
			kind := m.lexer.Interpreter.Match(&in, antlr.LexerDefaultMode)
			if stop := in.Index() - 1; kind != token.GetTokenType() || stop != token.GetStop() {
				t.Fatalf("%s: token %d ends at %d, the lexer's token %d at %d", text,
					token.GetTokenType(), token.GetStop(), kind, stop)
			}
		}
		if in.Index() != length {
			t.Fatalf("%s: the lexer finds more tokens", text)
		}
	}
	check(0)
}
