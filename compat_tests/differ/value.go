package main

import (
	"fmt"
	"regexp"

	"github.com/cqld/cqld/cql/types"
)

// value is a value of a statement: a literal, or the bytes that are bound instead.
type value struct {
	typ   types.Type
	text  string // "" if no literal has this value
	bytes []byte // nil is null
	unset bool
	bound bool
	kept  bool // a simpler value would show something else
}

// String describes a bound value.
func (v *value) String() string {
	switch {
	case v.unset:
		return "unset"
	case v.bytes == nil:
		return "null"
	}
	return fmt.Sprintf("%s 0x%x", v.typ, v.bytes)
}

// key identifies a value.
func (v *value) key() string { return fmt.Sprintf("%s %s %s %t", v.typ, v.text, v, v.bound) }

// The forms of literals without quotes.
var (
	uuidShape    = regexp.MustCompile(`^[0-9a-f]{8}-`)
	integerShape = regexp.MustCompile(`^-?[0-9]+$`)
	floatShape   = regexp.MustCompile(`^-?([0-9.]+([eE][-+]?[0-9]+)?|NaN|Infinity)$`)
)

// kindOfLiteral is the kind of a literal for the lexer, and the literal without its quotes.
func kindOfLiteral(text string) (types.LiteralKind, string) {
	switch {
	case text[0] == '\'':
		return types.StringLiteral, unquote(text)
	case len(text) > 1 && text[:2] == "0x":
		return types.HexLiteral, text
	case text == "true" || text == "false":
		return types.BooleanLiteral, text
	case uuidShape.MatchString(text):
		return types.UUIDLiteral, text
	case integerShape.MatchString(text):
		return types.IntegerLiteral, text
	case floatShape.MatchString(text):
		return types.FloatLiteral, text
	}
	return types.DurationLiteral, text
}

// unquote is the content of a text in quotes.
func unquote(text string) string {
	return doubledQuote.ReplaceAllString(text[1:len(text)-1], "'")
}

// doubledQuote escapes quotes in a text in quotes.
var doubledQuote = regexp.MustCompile("''")

// literal makes a value from a literal of a native type. A literal that the type refuses can be written, but not bound.
func literal(t types.Type, text string) *value {
	kind, content := kindOfLiteral(text)
	b, err := t.ParseLiteral(kind, content)
	if err != nil {
		b = nil
	}
	return &value{typ: t, text: text, bytes: b}
}

// null is the null of a type.
func null(t types.Type) *value { return &value{typ: t, text: "null"} }
