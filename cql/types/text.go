package types

import (
	"encoding/hex"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types/json"
)

// textType is UTF-8, also called varchar.
type textType struct{ byteString }

// Validate accepts valid UTF-8 and the invalid sequences that Cassandra accepts.
func (*textType) Validate(b []byte) error {
	if !utf8.Valid(b) && !validJavaUTF8(b) {
		return invalidf("String didn't validate.")
	}
	return nil
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
func (*textType) ParseJSON(v json.Value) ([]byte, error) {
	return jsonString(Text, v, "a UTF-8 string")
}

// AppendJSON prints a string.
func (*textType) AppendJSON(dst, b []byte) []byte { return json.AppendString(dst, string(b)) }

// EncodeText returns the text v.
func EncodeText(v string) []byte { return []byte(v) }

// asciiType is bytes below 128.
type asciiType struct{ byteString }

// Validate refuses bytes above 127; Cassandra prints the first as Java's signed byte.
func (*asciiType) Validate(b []byte) error {
	for _, c := range b {
		if c > 127 {
			return invalidf("Invalid byte for ascii: %d", int8(c))
		}
	}
	return nil
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
func (*asciiType) ParseJSON(v json.Value) ([]byte, error) {
	return jsonString(ASCII, v, "an ascii string")
}

// AppendJSON prints a string.
func (*asciiType) AppendJSON(dst, b []byte) []byte { return json.AppendString(dst, string(b)) }

// validJavaUTF8 reports whether Cassandra accepts b as UTF-8. Besides valid UTF-8 it accepts surrogates, characters
// beyond Unicode, and some sequences with a wrong second byte.
func validJavaUTF8(b []byte) bool {
	for len(b) > 0 {
		n := javaRuneLen(b)
		if n == 0 {
			return false
		}
		b = b[n:]
	}
	return true
}

// javaRuneLen is the length of the character at the beginning of b, or 0 if there is none.
func javaRuneLen(b []byte) int {
	c := b[0]
	n := 0
	switch {
	case c < 0x80:
		return 1
	case c == 0xC0, c >= 0xC2 && c < 0xE0:
		n = 2
	case c >= 0xE0 && c < 0xF0:
		n = 3
	case c >= 0xF0 && c < 0xF8:
		n = 4
	}
	if n == 0 || len(b) < n || !javaSecondByte(c, b[1]) {
		return 0
	}
	for _, c := range b[2:n] {
		if c&0xC0 != 0x80 {
			return 0
		}
	}
	return n
}

// javaSecondByte reports whether c may follow first. C0 80 is Java's zero. After E0 and F0 Cassandra checks only some
// of the bits.
func javaSecondByte(first, c byte) bool {
	switch first {
	case 0xC0:
		return c == 0x80
	case 0xE0:
		return c&0xE0 != 0x80
	case 0xF0:
		return c&0x30 != 0
	}
	return c&0xC0 == 0x80
}

// blobType is any bytes.
type blobType struct{ byteString }

// Validate takes any bytes.
func (*blobType) Validate([]byte) error { return nil }

// ParseLiteral takes 0x with an even number of hexadecimal digits.
func (*blobType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != HexLiteral {
		return nil, ErrKind
	}
	return parseHex(text)
}

// parseHex reads a hex literal, 0x included.
func parseHex(text string) ([]byte, error) {
	digits := text
	if len(text) >= 2 && (text[1] == 'x' || text[1] == 'X') {
		digits = text[2:]
	}
	return parseHexDigits(digits)
}

// parseHexDigits reads bytes, two digits for each.
func parseHexDigits(digits string) ([]byte, error) {
	b, err := hex.DecodeString(digits)
	if err != nil {
		return nil, invalidf("cannot parse '%s' as hex bytes", digits)
	}
	return notNil(b), nil
}

// Format prints 0x and two digits for each byte.
func (*blobType) Format(b []byte) string { return "0x" + hex.EncodeToString(b) }

// ParseJSON takes hexadecimal digits after 0x.
func (*blobType) ParseJSON(v json.Value) ([]byte, error) {
	s, ok := v.(json.String)
	if !ok {
		return nil, invalidf("Value '%s' is not a valid blob representation: %s", v, notCast(v))
	}
	digits, ok := strings.CutPrefix(string(s), "0x")
	if !ok {
		return nil, invalidf("Value '%s' is not a valid blob representation: String representation of blob is missing "+
			"0x prefix: %s", s, s)
	}
	b, err := parseHexDigits(digits)
	if err != nil {
		return nil, invalidf("Value '%s' is not a valid blob representation: %s", s, err)
	}
	return b, nil
}

// notCast is the message of Java's ClassCastException for a value that is no string.
func notCast(v json.Value) string {
	class := "java.lang." + v.Class()
	switch v.Class() {
	case "BigInteger":
		class = "java.math." + v.Class()
	case "ArrayList", "LinkedHashMap":
		class = "java.util." + v.Class()
	}
	return "class " + class + " cannot be cast to class java.lang.String (" + class + " and java.lang.String are in " +
		"module java.base of loader 'bootstrap')"
}

// AppendJSON prints the literal as a string.
func (*blobType) AppendJSON(dst, b []byte) []byte { return json.AppendString(dst, Blob.Format(b)) }
