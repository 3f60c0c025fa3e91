package types

import (
	"bytes"
	"unicode/utf16"

	"github.com/cqld/cqld/cql/quote"
)

// asciiType is bytes below 128.
type asciiType struct{ native }

// Validate refuses bytes above 127; Cassandra prints the first as Java's signed byte.
func (*asciiType) Validate(b []byte) error {
	for _, c := range b {
		if c > 127 {
			return invalidf("Invalid byte for ascii: %d", int8(c))
		}
	}
	return nil
}

// Compare orders by bytes, which is the order of the characters.
func (*asciiType) Compare(a, b []byte) int { return bytes.Compare(a, b) }

// AppendKey escapes zero bytes, as appendBytesKey says.
func (*asciiType) AppendKey(dst, b []byte, desc bool) []byte { return appendBytesKey(dst, b, desc) }

// DecodeKey takes the escapes of zero bytes away again.
func (*asciiType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeBytesKey(dst, key, desc)
}

// ParseLiteral takes a string of ASCII characters.
func (*asciiType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != StringLiteral {
		return nil, ErrKind
	}
	for _, r := range text {
		if r > 127 {
			return nil, invalidf("Invalid ASCII character in string literal: "+
				"java.nio.charset.UnmappableCharacterException: Input length = %d", utf16.RuneLen(r))
		}
	}
	return []byte(text), nil
}

// Format puts the text in single quotes.
func (*asciiType) Format(b []byte) string { return quote.Text(string(b)) }

// ParseJSON takes a string.
func (*asciiType) ParseJSON(v JSON) ([]byte, error) { return jsonString(ASCII, v, "an ascii string") }

// AppendJSON prints a string.
func (*asciiType) AppendJSON(dst, b []byte) []byte { return appendJSONString(dst, string(b)) }
