package types

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// doubleType is IEEE 754 of 8 bytes, with the peculiarities of float.
type doubleType struct{ native }

// FixedLength is 8.
func (*doubleType) FixedLength() int { return 8 }

// LossyKey is true: all NaNs have one key.
func (*doubleType) LossyKey() bool { return true }

// Validate takes 8 bytes or none.
func (*doubleType) Validate(b []byte) error {
	if len(b) != 8 && len(b) != 0 {
		return invalidf("Expected 8 or 0 byte value for a double (%d)", len(b))
	}
	return nil
}

// Compare orders by the number: -0.0 comes before 0.0, and NaN last.
func (*doubleType) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	return cmp.Compare(doubleOrder(a), doubleOrder(b))
}

// doubleOrder is a number that orders doubles: -0.0 is less than 0.0, and NaN more than anything.
func doubleOrder(b []byte) uint64 {
	bits := binary.BigEndian.Uint64(b)
	if f := math.Float64frombits(bits); f != f {
		bits = doubleNaN
	}
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

// doubleNaN is the NaN that literals and functions give.
const doubleNaN = 0x7FF8000000000000

// AppendKey appends 8 bytes in the order of the numbers.
func (*doubleType) AppendKey(dst, b []byte, desc bool) []byte {
	if len(b) == 0 {
		return append(dst, keyEmpty^mask(desc))
	}
	order := doubleOrder(b)
	if desc {
		order = ^order
	}
	return binary.BigEndian.AppendUint64(append(dst, keyValue^mask(desc)), order)
}

// DecodeKey gives the NaN of literals for every NaN.
func (*doubleType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeFloatKey(dst, key, 8, desc)
}

// ParseLiteral takes a number, NaN or Infinity.
func (*doubleType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != IntegerLiteral && kind != FloatLiteral {
		return nil, ErrKind
	}
	v, ok := parseJavaFloat(text, 64)
	if !ok {
		return nil, invalidf("Unable to make double from '%s'", text)
	}
	return EncodeDouble(v), nil
}

// parseJavaFloat reads a number, NaN or Infinity in any case. What is out of range is infinite.
func parseJavaFloat(text string, bits int) (float64, bool) {
	if strings.EqualFold(strings.TrimPrefix(text, "-"), "NaN") {
		return math.NaN(), true
	}
	v, err := strconv.ParseFloat(text, bits)
	return v, err == nil || errors.Is(err, strconv.ErrRange)
}

// javaFloat is what Java reads as a number: also with a letter for its type, or in hexadecimal. The parts are the sign
// and the number without the letter.
var javaFloat = regexp.MustCompile(`^([+-]?)(?:NaN|Infinity|` +
	`((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|` +
	`0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?)$`)

// parseFloatText reads a text that is not a literal as a float or double.
func parseFloatText(t Type, text string) ([]byte, error) {
	number, ok := javaNumber(text)
	if !ok {
		return nil, invalidf("Unable to make %s from '%s'", t, text)
	}
	return t.ParseLiteral(FloatLiteral, number)
}

// javaNumber takes off what Java allows around a number: white space, a plus and the letter of its type.
func javaNumber(text string) (number string, ok bool) {
	number = strings.TrimFunc(text, isJavaSpace)
	switch parts := javaFloat.FindStringSubmatch(number); {
	case parts == nil:
		return "", false
	case parts[2] != "":
		return parts[1] + parts[2], true
	}
	return strings.TrimPrefix(number, "+"), true
}

// ParseJavaDouble reads a text as Java's Double.parseDouble does, which takes more than literals: 1f, 0x1p3, +Infinity.
func ParseJavaDouble(text string) (float64, bool) {
	number, ok := javaNumber(text)
	if !ok {
		return 0, false
	}
	return parseJavaFloat(number, 64)
}

// FormatDouble prints a number as Java's Double.toString does: 1.0, 0.01, 6.71E-5.
func FormatDouble(v float64) string { return formatJavaFloat(v, 64) }

// Format prints as Java's Double.toString does, null for the empty value.
func (*doubleType) Format(b []byte) string {
	if len(b) != 8 {
		return noLiteral
	}
	return formatJavaFloat(DecodeDouble(b), 64)
}

// ParseJSON takes a number, or a string with one, NaN or Infinity.
func (*doubleType) ParseJSON(v JSON) ([]byte, error) {
	if f, ok := jsonFloat(v, 64); ok {
		return EncodeDouble(f), nil
	}
	return jsonString(Double, v, "a double value")
}

// AppendJSON prints null for what is no number or infinite, which JSON does not have.
func (*doubleType) AppendJSON(dst, b []byte) []byte {
	if f := DecodeDouble(b); f-f != 0 {
		return append(dst, "null"...)
	}
	return appendJSONPlain(dst, Double, b)
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
