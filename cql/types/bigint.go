package types

import (
	"cmp"
	"encoding/binary"
	"strconv"
)

// bigintType is a signed number of 8 bytes.
type bigintType struct{ native }

// Validate takes 8 bytes or none.
func (*bigintType) Validate(b []byte) error {
	if len(b) != 8 && len(b) != 0 {
		return invalidf("Expected 8 or 0 byte long (%d)", len(b))
	}
	return nil
}

// Compare orders by the number.
func (*bigintType) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	return cmp.Compare(DecodeBigInt(a), DecodeBigInt(b))
}

// AppendKey inverts the sign bit, so that negative numbers come first.
func (*bigintType) AppendKey(dst, b []byte, desc bool) []byte {
	return appendFixedKey(dst, b, signBit, desc)
}

// DecodeKey inverts the sign bit back.
func (*bigintType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeFixedKey(dst, key, 8, signBit, desc)
}

// ParseLiteral takes an integer of 64 bits.
func (*bigintType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != IntegerLiteral {
		return nil, ErrKind
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, invalidf("Unable to make long from '%s'", text)
	}
	return EncodeBigInt(v), nil
}

// Format prints decimal digits, null for the empty value.
func (*bigintType) Format(b []byte) string {
	if len(b) != 8 {
		return noLiteral
	}
	return strconv.FormatInt(DecodeBigInt(b), 10)
}

// ParseJSON takes an integer of 64 bits, or a string with one.
func (*bigintType) ParseJSON(v JSON) ([]byte, error) {
	return jsonInteger(BigInt, v, "a bigint value")
}

// AppendJSON prints a number.
func (*bigintType) AppendJSON(dst, b []byte) []byte { return appendJSONPlain(dst, BigInt, b) }

// FixedLength is 8.
func (*bigintType) FixedLength() int { return 8 }

// EncodeBigInt returns the bigint v.
func EncodeBigInt(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) }

// DecodeBigInt reads a valid bigint, counter, timestamp or time; the empty value is 0.
func DecodeBigInt(b []byte) int64 {
	if len(b) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}
