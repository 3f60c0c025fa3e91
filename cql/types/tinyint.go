package types

import (
	"cmp"
	"strconv"
)

// tinyintType is a signed number of 1 byte. It has no empty value.
type tinyintType struct{ native }

// Validate takes 1 byte.
func (*tinyintType) Validate(b []byte) error {
	if len(b) != 1 {
		return invalidf("Expected 1 byte for a tinyint (%d)", len(b))
	}
	return nil
}

// Compare orders by the number.
func (*tinyintType) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	return cmp.Compare(int8(a[0]), int8(b[0]))
}

// AppendKey inverts the sign bit, so that negative numbers come first.
func (*tinyintType) AppendKey(dst, b []byte, desc bool) []byte {
	return appendFixedKey(dst, b, signBit, desc)
}

// DecodeKey inverts the sign bit back.
func (*tinyintType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeFixedKey(dst, key, 1, signBit, desc)
}

// ParseLiteral takes an integer of 8 bits, or one byte in hexadecimal.
func (*tinyintType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind == HexLiteral { // which no other number takes
		b, err := parseHex(text)
		if err == nil {
			err = TinyInt.Validate(b)
		}
		return b, err
	}
	if kind != IntegerLiteral {
		return nil, ErrKind
	}
	v, err := strconv.ParseInt(text, 10, 8)
	if err != nil {
		return nil, invalidf("Unable to make byte from '%s'", text)
	}
	return EncodeTinyInt(int8(v)), nil
}

// Format prints decimal digits.
func (*tinyintType) Format(b []byte) string {
	if len(b) != 1 {
		return noLiteral
	}
	return strconv.Itoa(int(int8(b[0])))
}

// ParseJSON takes any number by its text, as Java prints it.
func (*tinyintType) ParseJSON(v JSON) ([]byte, error) {
	switch v.(type) {
	case JSONString, JSONInteger, JSONDouble:
		return fromString(TinyInt, v.String())
	}
	return nil, wrongJSON("a byte value", v)
}

// AppendJSON prints a number.
func (*tinyintType) AppendJSON(dst, b []byte) []byte { return appendJSONPlain(dst, TinyInt, b) }

// EncodeTinyInt returns the tinyint v.
func EncodeTinyInt(v int8) []byte { return []byte{byte(v)} }

// DecodeTinyInt reads a valid tinyint.
func DecodeTinyInt(b []byte) int8 {
	if len(b) != 1 {
		return 0
	}
	return int8(b[0])
}
