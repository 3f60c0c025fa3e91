package script

import (
	"regexp"
	"strings"

	"github.com/cqld/cqld/cql/types"
)

// token is a token of a statement, as far as the runner distinguishes them.
type token struct {
	kind       tokenKind
	start, end int    // in the statement
	text       string // as written
}

type tokenKind uint8

// The kinds from stringToken to durationToken are constants.
const (
	blank tokenKind = iota
	wordToken
	nameToken // a quoted name
	stringToken
	integerToken
	floatToken
	booleanToken
	hexToken
	uuidToken
	durationToken
	symbolToken
)

// literalKinds maps tokens to the kinds of constants in package types.
var literalKinds = map[tokenKind]types.LiteralKind{
	stringToken:   types.StringLiteral,
	integerToken:  types.IntegerLiteral,
	floatToken:    types.FloatLiteral,
	booleanToken:  types.BooleanLiteral,
	hexToken:      types.HexLiteral,
	uuidToken:     types.UUIDLiteral,
	durationToken: types.DurationLiteral,
}

// tokenForms are the forms of tokens. The longest match wins, or the first of equally long ones.
var tokenForms = []struct {
	kind tokenKind
	form *regexp.Regexp
}{
	form(blank, `\s+|(?:--|//)[^\n]*|/\*(?s:.*?)\*/`),
	form(booleanToken, `(?i:true|false)`),
	form(floatToken, `(?i:-?nan|-?infinity)`),
	form(wordToken, `[A-Za-z][A-Za-z0-9_]*`),
	form(nameToken, `"(?:[^"]|"")+"`),
	form(stringToken, `'(?:[^']|'')*'|(?s:\$\$.*?\$\$)`),
	form(integerToken, `-?[0-9]+`),
	form(floatToken, `-?[0-9]+(?:\.[0-9]*)?[eE][+-]?[0-9]+|-?[0-9]+\.[0-9]*`),
	form(hexToken, `0[xX][0-9a-fA-F]*`),
	form(uuidToken, `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`),
	form(durationToken, `-?(?:[0-9]+(?i:y|mo|w|d|h|m|s|ms|us|µs|ns))+`),
	form(durationToken, `-?P(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+D)?(?:T(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+S)?)?|-?P[0-9]+W`),
	form(durationToken, `-?P[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}`),
	form(symbolToken, `[<>!+-]=|\.\.|(?s:.)`),
}

func form(kind tokenKind, expression string) struct {
	kind tokenKind
	form *regexp.Regexp
} {
	return struct {
		kind tokenKind
		form *regexp.Regexp
	}{kind, regexp.MustCompile(`\A(?:` + expression + `)`)}
}

// tokenize splits a statement into its tokens, without blanks and comments.
func tokenize(statement string) []token {
	var tokens []token
	for at := 0; at < len(statement); {
		t := token{start: at, end: at}
		for _, f := range tokenForms {
			if n := len(f.form.FindString(statement[at:])); at+n > t.end {
				t.kind, t.end = f.kind, at+n
			}
		}
		t.text = statement[at:t.end]
		if t.kind == floatToken && strings.HasSuffix(t.text, ".") && strings.HasPrefix(statement[t.end:], ".") {
			t.kind, t.end = integerToken, t.end-1 // 1..2 is a range
			t.text = statement[at:t.end]
		}
		if t.kind != blank {
			tokens = append(tokens, t)
		}
		at = t.end
	}
	return tokens
}

// is reports whether the token is a symbol, or a word in either case.
func (t token) is(texts ...string) bool {
	if t.kind != wordToken && t.kind != symbolToken {
		return false
	}
	for _, text := range texts {
		if strings.EqualFold(t.text, text) {
			return true
		}
	}
	return false
}

// unquoted is the text of a constant without quotes.
func (t token) unquoted() string {
	switch {
	case strings.HasPrefix(t.text, "$$"):
		return t.text[2 : len(t.text)-2]
	case t.kind == stringToken:
		return strings.ReplaceAll(t.text[1:len(t.text)-1], "''", "'")
	}
	return t.text
}

// fieldName is the name of a field, as a type spells it.
func (t token) fieldName() string {
	if t.kind == nameToken {
		return strings.ReplaceAll(t.text[1:len(t.text)-1], `""`, `"`)
	}
	return strings.ToLower(t.text)
}
