package parser

import (
	"strconv"
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

func (b *builder) constant(t antlr.Token) *cql.Literal {
	switch t.GetTokenType() {
	case grammar.CqlLexerSTRING_LITERAL:
		return b.stringToken(t)
	case grammar.CqlLexerINTEGER:
		return b.literalToken(t, cql.IntegerLiteral)
	case grammar.CqlLexerFLOAT:
		b.checkFloat(t)
		return b.literalToken(t, cql.FloatLiteral)
	case grammar.CqlLexerBOOLEAN:
		return b.literalToken(t, cql.BooleanLiteral)
	case grammar.CqlLexerHEXNUMBER:
		return b.literalToken(t, cql.HexLiteral)
	case grammar.CqlLexerUUID:
		return b.literalToken(t, cql.UUIDLiteral)
	case grammar.CqlLexerDURATION:
		return b.literalToken(t, cql.DurationLiteral)
	default:
		return &cql.Literal{Span: tokenSpan(t), Kind: cql.FloatLiteral, Text: nonNumber(b.word(t))}
	}
}

// nonNumber is NaN, Infinity or -Infinity, whichever a word means: case does not matter, nor does NaN's sign.
func nonNumber(word string) string {
	unsigned, negative := strings.CutPrefix(word, "-")
	switch {
	case strings.EqualFold(unsigned, "nan"):
		return "NaN"
	case negative:
		return "-Infinity"
	}
	return "Infinity"
}

// null builds NULL, which has no text.
func null(t antlr.Token) *cql.Literal {
	return &cql.Literal{Span: tokenSpan(t), Kind: cql.NullLiteral}
}

// literalToken builds a literal with the token's text as written.
func (b *builder) literalToken(t antlr.Token, kind cql.LiteralKind) *cql.Literal {
	return &cql.Literal{Span: tokenSpan(t), Kind: kind, Text: b.word(t)}
}

// stringToken builds a string from 'text' or $$text$$.
func (b *builder) stringToken(t antlr.Token) *cql.Literal {
	return &cql.Literal{Span: tokenSpan(t), Kind: cql.StringLiteral, Text: stringContent(b.word(t))}
}

// stringContent removes the quotes of a string token.
func stringContent(word string) string {
	if word[0] == '$' {
		return word[2 : len(word)-2]
	}
	return strings.ReplaceAll(word[1:len(word)-1], "''", "'")
}

// checkFloat refuses a number beyond the range of a double: Cassandra fails to read it while it parses,
// whatever the column.
func (b *builder) checkFloat(t antlr.Token) {
	if _, err := strconv.ParseFloat(b.word(t), 64); err != nil {
		b.failJava("NumberFormatException",
			`Character I is neither a decimal digit number, decimal point, nor "e" notation exponential mark.`)
	}
}
