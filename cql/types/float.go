package types

import (
	"cmp"
	"encoding/binary"
	"math"

	"github.com/cqld/cqld/cql/types/javafloat"
	"github.com/cqld/cqld/cql/types/json"
)

// floatType is float or double: IEEE 754 of 4 or 8 bytes. Bytes are kept as bound, so there are many NaNs, which are
// equal.
type floatType struct{ fixedSize }

// The NaNs that literals and functions return.
const (
	floatNaN  = 0x7FC00000
	doubleNaN = 0x7FF8000000000000
)

// LossyKey is true: all NaNs have one key.
func (*floatType) LossyKey() bool { return true }

// Compare orders by the number: -0.0 comes before 0.0, and NaN last.
func (t *floatType) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	return cmp.Compare(t.order(a), t.order(b))
}

// order maps a number to an unsigned one of the same order; that of a float is in the upper half.
func (t *floatType) order(b []byte) uint64 {
	if v := t.decode(b); v != v {
		b = t.encode(v)
	}
	bits := uint64(binary.BigEndian.Uint32(b)) << 32
	if t.size == 8 {
		bits |= uint64(binary.BigEndian.Uint32(b[4:]))
	}
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

func (t *floatType) decode(b []byte) float64 {
	if t.size == 4 {
		return float64(DecodeFloat(b))
	}
	return DecodeDouble(b)
}

func (t *floatType) encode(v float64) []byte {
	if t.size == 4 {
		return EncodeFloat(float32(v))
	}
	return EncodeDouble(v)
}

// AppendKey appends the bytes of order.
func (t *floatType) AppendKey(dst, b []byte, desc bool) []byte {
	if len(b) == 0 {
		return append(dst, keyEmpty^mask(desc))
	}
	order := t.order(b)
	if desc {
		order = ^order
	}
	dst = append(dst, keyValue^mask(desc))
	return binary.BigEndian.AppendUint64(dst, order)[:len(dst)+t.size]
}

// DecodeKey returns the NaN of literals for every NaN. Positive numbers have the sign bit set; negative ones have all
// bits inverted.
func (t *floatType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	n := len(dst)
	value, rest, err = decodeFixedKey(dst, key, t.size, signBit, desc)
	if err == nil && len(value) > n && value[n]&signBit != 0 {
		for i := range value[n:] {
			value[n+i] = ^value[n+i]
		}
		value[n] ^= signBit
	}
	return value, rest, err
}

// ParseLiteral takes a number, NaN or Infinity, and rounds it to the size.
func (t *floatType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != IntegerLiteral && kind != FloatLiteral {
		return nil, ErrKind
	}
	v, ok := javafloat.Parse(text, 8*t.size)
	if !ok {
		return nil, invalidf("Unable to make %s from '%s'", t.name, text)
	}
	return t.encode(v), nil
}

// Format prints as Java does, null for the empty value.
func (t *floatType) Format(b []byte) string {
	if len(b) != t.size {
		return noLiteral
	}
	return javafloat.Format(t.decode(b), 8*t.size)
}

// ParseJSON takes a number, or a string with one, NaN or Infinity.
func (t *floatType) ParseJSON(v json.Value) ([]byte, error) {
	switch v := v.(type) {
	case json.Double:
		return t.encode(float64(v)), nil
	case json.Integer:
		f, _ := javafloat.Parse(string(v), 8*t.size)
		return t.encode(f), nil
	}
	return jsonString(t, v, "a "+t.name+" value")
}

// AppendJSON prints null for NaN and infinities, which JSON does not have.
func (t *floatType) AppendJSON(dst, b []byte) []byte {
	if f := t.decode(b); f-f != 0 {
		return append(dst, "null"...)
	}
	return appendJSONPlain(dst, t, b)
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

// EncodeDouble returns the double v.
func EncodeDouble(v float64) []byte {
	bits := math.Float64bits(v)
	if v != v {
		bits = doubleNaN
	}
	return binary.BigEndian.AppendUint64(nil, bits)
}

// DecodeDouble reads a valid double; the empty value is 0.
func DecodeDouble(b []byte) float64 {
	if len(b) != 8 {
		return 0
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b))
}
