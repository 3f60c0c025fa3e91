package types

import (
	"bytes"
	"encoding/hex"
	"strings"
)

// blobType is any bytes.
type blobType struct{ native }

// Validate takes any bytes.
func (*blobType) Validate([]byte) error { return nil }

// Compare orders by bytes as unsigned numbers.
func (*blobType) Compare(a, b []byte) int { return bytes.Compare(a, b) }

// AppendKey escapes zero bytes, as appendBytesKey says.
func (*blobType) AppendKey(dst, b []byte, desc bool) []byte { return appendBytesKey(dst, b, desc) }

// DecodeKey takes the escapes of zero bytes away again.
func (*blobType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeBytesKey(dst, key, desc)
}

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

// ParseJSON takes hexadecimal digits behind 0x.
func (*blobType) ParseJSON(v JSON) ([]byte, error) {
	s, ok := v.(JSONString)
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

// notCast is what Java says of a value that is taken for a string.
func notCast(v JSON) string {
	class := "java.lang." + v.class()
	switch v.class() {
	case "BigInteger":
		class = "java.math." + v.class()
	case "ArrayList", "LinkedHashMap":
		class = "java.util." + v.class()
	}
	return "class " + class + " cannot be cast to class java.lang.String (" + class + " and java.lang.String are in " +
		"module java.base of loader 'bootstrap')"
}

// AppendJSON prints a string with what Format prints.
func (*blobType) AppendJSON(dst, b []byte) []byte { return appendJSONString(dst, Blob.Format(b)) }
