package types

import (
	"cmp"
	"encoding/binary"
	"strconv"
)

// smallintType is a signed number of 2 bytes. It has no empty value.
type smallintType struct{ native }

// Validate takes 2 bytes.
func (*smallintType) Validate(b []byte) error {
	if len(b) != 2 {
		return invalidf("Expected 2 bytes for a smallint (%d)", len(b))
	}
	return nil
}

// Compare orders by the number.
func (*smallintType) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	return cmp.Compare(int16(binary.BigEndian.Uint16(a)), int16(binary.BigEndian.Uint16(b)))
}

// AppendKey inverts the sign bit, so that negative numbers come first.
func (*smallintType) AppendKey(dst, b []byte, desc bool) []byte {
	return appendFixedKey(dst, b, signBit, desc)
}

// DecodeKey inverts the sign bit back.
func (*smallintType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeFixedKey(dst, key, 2, signBit, desc)
}

// ParseLiteral takes an integer of 16 bits.
func (*smallintType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != IntegerLiteral {
		return nil, ErrKind
	}
	v, err := strconv.ParseInt(text, 10, 16)
	if err != nil {
		return nil, invalidf("Unable to make short from '%s'", text)
	}
	return EncodeSmallInt(int16(v)), nil
}

// Format prints decimal digits.
func (*smallintType) Format(b []byte) string {
	if len(b) != 2 {
		return noLiteral
	}
	return strconv.FormatInt(int64(int16(binary.BigEndian.Uint16(b))), 10)
}

// ParseJSON takes any number by its text, as Java prints it.
func (*smallintType) ParseJSON(v JSON) ([]byte, error) {
	switch v.(type) {
	case JSONString, JSONInteger, JSONDouble:
		return fromString(SmallInt, v.String())
	}
	return nil, wrongJSON("a short value", v)
}

// AppendJSON prints a number.
func (*smallintType) AppendJSON(dst, b []byte) []byte {
	return appendJSONPlain(dst, SmallInt, b)
}

// EncodeSmallInt returns the smallint v.
func EncodeSmallInt(v int16) []byte { return binary.BigEndian.AppendUint16(nil, uint16(v)) }

// DecodeSmallInt reads a valid smallint.
func DecodeSmallInt(b []byte) int16 {
	if len(b) != 2 {
		return 0
	}
	return int16(binary.BigEndian.Uint16(b))
}
