package antlr3

import (
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser/stream"
	"github.com/cqld/cqld/grammar"
)

// BadToken is the error for a piece of text that is not a token.
func BadToken(ts *stream.Tokens, t *stream.Lexeme) *cqlerr.Error {
	text, start, end := ts.Text, t.GetStart(), t.GetStop()+1
	switch t.GetTokenType() {
	case grammar.CqlLexerBAD_UUID:
		if text[end-1] == '-' {
			return incompleteUUID(text, start)
		}
		if end-start < 8 {
			return brokenNumber(text, start, end)
		}
		return mismatchedCharacter(text, end, "'-'")
	case grammar.CqlLexerBAD_NEGATIVE:
		return brokenWord(text, start+1)
	case grammar.CqlLexerBAD_DURATION:
		return noViableCharacter(text, end)
	case grammar.CqlLexerUNENDED_STRING:
		return mismatchedCharacter(text, len(text), "'''")
	case grammar.CqlLexerUNENDED_DOLLARS:
		return mismatchedCharacter(text, len(text)-1, "'$'")
	case grammar.CqlLexerUNENDED_NAME:
		return mismatchedCharacter(text, len(text), `'"'`)
	case grammar.CqlLexerUNENDED_COMMENT:
		return mismatchedCharacter(text, len(text), "'*'")
	case grammar.CqlLexerUNENDED_LINE:
		return mismatchedCharacter(text, len(text), "set null")
	}
	switch text[start] {
	case '$':
		return mismatchedCharacter(text, end, "'$'")
	case '!':
		return mismatchedCharacter(text, end, "'='")
	default:
		return noViableCharacter(text, start)
	}
}

// brokenWord is the error for a minus before N or I that does not begin -NaN or -Infinity.
func brokenWord(text string, start int) *cqlerr.Error {
	word := "NaN"
	if !strings.EqualFold(text[start:start+1], "n") {
		word = "Infinity"
	}
	at := start
	for at < len(text) && at-start < len(word) && strings.EqualFold(text[at:at+1], word[at-start:at-start+1]) {
		at++
	}
	return mismatchedCharacter(text, at, "set null")
}

// brokenNumber is the error for digits and letters that are neither a UUID, nor a number with an exponent (1e), nor a
// duration (1d2).
func brokenNumber(text string, start, end int) *cqlerr.Error {
	rest := strings.TrimLeft(text[start:end], "0123456789")
	switch {
	case strings.EqualFold(rest, "e") && end < len(text) && (text[end] == '+' || text[end] == '-'):
		return cqlerr.Syntaxf("%s required (...)+ loop did not match anything at character '%s'",
			position(text, end+1), runeAt(text, end+1))
	case strings.EqualFold(rest, "e"), len(rest) > 1 && strings.EqualFold(rest[:1], "d") &&
		strings.Trim(rest[1:], "0123456789") == "":
		return noViableCharacter(text, end)
	}
	return mismatchedCharacter(text, end, "set null")
}

// incompleteUUID is the error at the place where a text stops looking like a UUID.
func incompleteUUID(text string, start int) *cqlerr.Error {
	const shape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	for i := range shape {
		at := start + i
		switch {
		case shape[i] == '-' && (at >= len(text) || text[at] != '-'):
			return mismatchedCharacter(text, at, "'-'")
		case shape[i] == 'x' && (at >= len(text) || !isHex(text[at])):
			return mismatchedCharacter(text, at, "set null")
		}
	}
	return noViableCharacter(text, start)
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func mismatchedCharacter(text string, offset int, expecting string) *cqlerr.Error {
	return cqlerr.Syntaxf("%s mismatched character '%s' expecting %s", position(text, offset), runeAt(text, offset),
		expecting)
}

func noViableCharacter(text string, offset int) *cqlerr.Error {
	return cqlerr.Syntaxf("%s no viable alternative at character '%s'", position(text, offset), runeAt(text, offset))
}
