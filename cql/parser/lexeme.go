package parser

import "github.com/antlr4-go/antlr/v4"

// lexeme is a token as small as it can be: there are as many as a text has words.
type lexeme struct {
	kind, start, stop, index int32
}

// GetTokenType is a number of the generated lexer, or antlr.TokenEOF.
func (t *lexeme) GetTokenType() int { return int(t.kind) }

// GetStart is the byte offset of the token.
func (t *lexeme) GetStart() int { return int(t.start) }

// GetStop is the byte offset of its last byte.
func (t *lexeme) GetStop() int { return int(t.stop) }

// GetTokenIndex is its place among the tokens of the text.
func (t *lexeme) GetTokenIndex() int { return int(t.index) }

// SetTokenIndex is called by the runtime for tokens that it makes up.
func (t *lexeme) SetTokenIndex(i int) { t.index = int32(i) }

// GetChannel is the default one: blanks and comments make no tokens.
func (*lexeme) GetChannel() int { return antlr.TokenDefaultChannel }

// SetText does nothing: a token's text is that of the statement.
func (*lexeme) SetText(string) {}

// String is empty, like GetText.
func (t *lexeme) String() string { return t.GetText() }

// What follows belongs to the interface; the generated parser does not ask for it.

// GetText is empty: a token does not know its statement.
func (*lexeme) GetText() string { return "" }

// GetLine is 0: errors count lines themselves.
func (*lexeme) GetLine() int { return 0 }

// GetColumn is 0: errors count columns themselves.
func (*lexeme) GetColumn() int { return 0 }

// GetSource is nil, to keep tokens small.
func (*lexeme) GetSource() *antlr.TokenSourceCharStreamPair { return nil }

// GetTokenSource is nil, to keep tokens small.
func (*lexeme) GetTokenSource() antlr.TokenSource { return nil }

// GetInputStream is nil, to keep tokens small.
func (*lexeme) GetInputStream() antlr.CharStream { return nil }
