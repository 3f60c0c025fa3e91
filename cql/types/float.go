package types

import (
	"cmp"
	"encoding/binary"
	"math"
)

// floatType is IEEE 754 of 4 bytes. Bytes are kept as bound, so there are many NaNs, which are equal.
type floatType struct{ native }

// FixedLength is 4.
func (*floatType) FixedLength() int { return 4 }

// LossyKey is true: all NaNs have one key.
func (*floatType) LossyKey() bool { return true }

// Validate takes 4 bytes or none.
func (*floatType) Validate(b []byte) error {
	if len(b) != 4 && len(b) != 0 {
		return invalidf("Expected 4 or 0 byte value for a float (%d)", len(b))
	}
	return nil
}

// Compare orders by the number: -0.0 comes before 0.0, and NaN last.
func (*floatType) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	return cmp.Compare(floatOrder(a), floatOrder(b))
}

// floatOrder is a number that orders floats: -0.0 is less than 0.0, and NaN more than anything.
func floatOrder(b []byte) uint32 {
	bits := binary.BigEndian.Uint32(b)
	if f := math.Float32frombits(bits); f != f {
		bits = floatNaN
	}
	if bits>>31 != 0 {
		return ^bits
	}
	return bits | 1<<31
}

// floatNaN is the NaN that literals and functions give.
const floatNaN = 0x7FC00000

// AppendKey appends 4 bytes in the order of the numbers.
func (*floatType) AppendKey(dst, b []byte, desc bool) []byte {
	if len(b) == 0 {
		return append(dst, keyEmpty^mask(desc))
	}
	order := floatOrder(b)
	if desc {
		order = ^order
	}
	return binary.BigEndian.AppendUint32(append(dst, keyValue^mask(desc)), order)
}

// DecodeKey gives the NaN of literals for every NaN.
func (*floatType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeFloatKey(dst, key, 4, desc)
}

// decodeFloatKey decodes the key of a float or a double: if the sign bit is set the number was positive,
// else all its bits were inverted.
func decodeFloatKey(dst, key []byte, size int, desc bool) (value, rest []byte, err error) {
	n := len(dst)
	value, rest, err = decodeFixedKey(dst, key, size, signBit, desc)
	if err == nil && len(value) > n && value[n]&signBit != 0 {
		for i := range value[n:] {
			value[n+i] = ^value[n+i]
		}
		value[n] ^= signBit
	}
	return value, rest, err
}

// ParseLiteral takes a number, NaN or Infinity, and rounds it to 32 bits.
func (*floatType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != IntegerLiteral && kind != FloatLiteral {
		return nil, ErrKind
	}
	v, ok := parseJavaFloat(text, 32)
	if !ok {
		return nil, invalidf("Unable to make float from '%s'", text)
	}
	return EncodeFloat(float32(v)), nil
}

// Format prints as Java's Float.toString does, null for the empty value.
func (*floatType) Format(b []byte) string {
	if len(b) != 4 {
		return noLiteral
	}
	return formatJavaFloat(float64(DecodeFloat(b)), 32)
}

// ParseJSON takes a number, or a string with one, NaN or Infinity.
func (*floatType) ParseJSON(v JSON) ([]byte, error) {
	if f, ok := jsonFloat(v, 32); ok {
		return EncodeFloat(float32(f)), nil
	}
	return jsonString(Float, v, "a float value")
}

// AppendJSON prints null for what is no number or infinite, which JSON does not have.
func (*floatType) AppendJSON(dst, b []byte) []byte {
	if f := DecodeFloat(b); f-f != 0 {
		return append(dst, "null"...)
	}
	return appendJSONPlain(dst, Float, b)
}

// EncodeFloat returns the float v.
func EncodeFloat(v float32) []byte {
	bits := math.Float32bits(v)
	if v != v {
		bits = floatNaN
	}
	return binary.BigEndian.AppendUint32(nil, bits)
}

// DecodeFloat reads a valid float; the empty value is 0.
func DecodeFloat(b []byte) float32 {
	if len(b) != 4 {
		return 0
	}
	return math.Float32frombits(binary.BigEndian.Uint32(b))
}
