package types

import (
	"bytes"
	"unicode/utf8"

	"github.com/cqld/cqld/cql/quote"
)

// textType is UTF-8, also called varchar.
type textType struct{ native }

// Validate takes what Cassandra takes for UTF-8, which is more than is valid.
func (*textType) Validate(b []byte) error {
	if !utf8.Valid(b) && !validJavaUTF8(b) {
		return invalidf("String didn't validate.")
	}
	return nil
}

// Compare orders by bytes, which is the order of code points.
func (*textType) Compare(a, b []byte) int { return bytes.Compare(a, b) }

// AppendKey escapes zero bytes, as appendBytesKey says.
func (*textType) AppendKey(dst, b []byte, desc bool) []byte { return appendBytesKey(dst, b, desc) }

// DecodeKey takes the escapes of zero bytes away again.
func (*textType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeBytesKey(dst, key, desc)
}

// ParseLiteral takes a string.
func (*textType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != StringLiteral {
		return nil, ErrKind
	}
	return []byte(text), nil
}

// Format puts the text in single quotes.
func (*textType) Format(b []byte) string { return quote.Text(string(b)) }

// ParseJSON takes a string.
func (*textType) ParseJSON(v JSON) ([]byte, error) { return jsonString(Text, v, "a UTF-8 string") }

// AppendJSON prints a string.
func (*textType) AppendJSON(dst, b []byte) []byte { return appendJSONString(dst, string(b)) }

// EncodeText returns the text v.
func EncodeText(v string) []byte { return []byte(v) }
