package types

import (
	"cmp"
	"encoding/binary"
	"strconv"
)

// intType is a signed number of 4 bytes.
type intType struct{ native }

// Validate takes 4 bytes or none.
func (*intType) Validate(b []byte) error {
	if len(b) != 4 && len(b) != 0 {
		return invalidf("Expected 4 or 0 byte int (%d)", len(b))
	}
	return nil
}

// Compare orders by the number.
func (*intType) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	return cmp.Compare(int32(binary.BigEndian.Uint32(a)), int32(binary.BigEndian.Uint32(b)))
}

// AppendKey inverts the sign bit, so that negative numbers come first.
func (*intType) AppendKey(dst, b []byte, desc bool) []byte {
	return appendFixedKey(dst, b, signBit, desc)
}

// DecodeKey inverts the sign bit back.
func (*intType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeFixedKey(dst, key, 4, signBit, desc)
}

// ParseLiteral takes an integer of 32 bits.
func (*intType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != IntegerLiteral {
		return nil, ErrKind
	}
	v, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return nil, invalidf("Unable to make int from '%s'", text)
	}
	return EncodeInt(int32(v)), nil
}

// Format prints decimal digits, null for the empty value.
func (*intType) Format(b []byte) string {
	if len(b) != 4 {
		return noLiteral
	}
	return strconv.FormatInt(int64(int32(binary.BigEndian.Uint32(b))), 10)
}

// ParseJSON takes an integer of 32 bits, or a string with one.
func (*intType) ParseJSON(v JSON) ([]byte, error) {
	return jsonInteger(Int, v, "an int value")
}

// AppendJSON prints a number.
func (*intType) AppendJSON(dst, b []byte) []byte { return appendJSONPlain(dst, Int, b) }

// FixedLength is 4.
func (*intType) FixedLength() int { return 4 }

// EncodeInt returns the int v.
func EncodeInt(v int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(v)) }

// DecodeInt reads a valid int; the empty value is 0.
func DecodeInt(b []byte) int32 {
	if len(b) != 4 {
		return 0
	}
	return int32(binary.BigEndian.Uint32(b))
}
