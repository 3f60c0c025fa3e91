package types

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/types/json"
)

// fixedSize is the part of types whose values have a fixed number of bytes.
type fixedSize struct {
	native
	size  int
	sign  byte // signBit for signed numbers, else 0
	empty bool // the empty value is valid
}

// wrongSizes has the error for a wrong number of bytes by type; the others are UUIDs.
var wrongSizes = map[string]string{
	"tinyint":   "Expected 1 byte for a tinyint (%d)",
	"smallint":  "Expected 2 bytes for a smallint (%d)",
	"int":       "Expected 4 or 0 byte int (%d)",
	"bigint":    "Expected 8 or 0 byte long (%d)",
	"counter":   "Expected 8 or 0 byte long (%d)",
	"boolean":   "Expected 1 or 0 byte value (%d)",
	"float":     "Expected 4 or 0 byte value for a float (%d)",
	"double":    "Expected 8 or 0 byte value for a double (%d)",
	"date":      "Expected 4 byte long for date (%d)",
	"time":      "Expected 8 byte long for time (%d)",
	"timestamp": "Expected 8 or 0 byte long for date (%d)",
}

// Validate checks the number of bytes.
func (t *fixedSize) Validate(b []byte) error {
	if len(b) != t.size && (len(b) > 0 || !t.empty) {
		if format, ok := wrongSizes[t.name]; ok {
			return invalidf(format, len(b))
		}
		return invalidf("UUID should be 16 or 0 bytes (%d)", len(b))
	}
	return nil
}

// Compare orders signed numbers by value, others by bytes.
func (t *fixedSize) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	if x, y := a[0]^t.sign, b[0]^t.sign; x != y {
		return cmp.Compare(x, y)
	}
	return bytes.Compare(a[1:], b[1:])
}

// AppendKey inverts the sign bit, so that negative numbers come first.
func (t *fixedSize) AppendKey(dst, b []byte, desc bool) []byte {
	return appendFixedKey(dst, b, t.sign, desc)
}

// DecodeKey undoes AppendKey.
func (t *fixedSize) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeFixedKey(dst, key, t.size, t.sign, desc)
}

// FixedLength is the size; Cassandra treats types without an empty value as varying.
func (t *fixedSize) FixedLength() int {
	if !t.empty {
		return 0
	}
	return t.size
}

// integerType is tinyint, smallint, int or bigint: a signed number. The two short ones have no empty value.
type integerType struct {
	fixedSize
	java string // the Java type, for error messages
}

// ParseLiteral takes an integer in range. tinyint also takes one byte in hexadecimal.
func (t *integerType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	switch {
	case kind == HexLiteral && t.size == 1:
		b, err := parseHex(text)
		if err == nil {
			err = t.Validate(b)
		}
		return b, err
	case kind != IntegerLiteral:
		return nil, ErrKind
	}
	v, err := strconv.ParseInt(text, 10, 8*t.size)
	if err != nil {
		return nil, invalidf("Unable to make %s from '%s'", t.java, text)
	}
	return EncodeBigInt(v)[8-t.size:], nil
}

// Format prints decimal digits, null for the empty value.
func (t *integerType) Format(b []byte) string {
	if len(b) != t.size {
		return noLiteral
	}
	v := int64(int8(b[0]))
	for _, c := range b[1:] {
		v = v<<8 | int64(c)
	}
	return strconv.FormatInt(v, 10)
}

// ParseJSON takes an integer in range, or a string with one. The short types take any number by its text, as Java
// prints it.
func (t *integerType) ParseJSON(v json.Value) ([]byte, error) {
	switch n := v.(type) {
	case json.String:
		return fromString(t, string(n))
	case json.Integer:
		if class := n.Class(); t.size < 4 || class == "Integer" || class == "Long" && t.size == 8 {
			return fromString(t, string(n))
		}
	case json.Double:
		if t.size < 4 {
			return fromString(t, n.String())
		}
	}
	article := "a "
	if t == Int {
		article = "an "
	}
	name := t.java
	if t.size == 8 {
		name = t.name
	}
	return nil, wrongJSON(article+name+" value", v)
}

// AppendJSON prints a number.
func (t *integerType) AppendJSON(dst, b []byte) []byte { return appendJSONPlain(dst, t, b) }

// counterType is a bigint that is only added to.
type counterType struct{ integerType }

// FixedLength is 0: Cassandra treats counters as varying.
func (*counterType) FixedLength() int { return 0 }

// ParseJSON takes nothing: counters are not written but added to.
func (*counterType) ParseJSON(json.Value) ([]byte, error) {
	return nil, invalidf("Counters cannot be read from JSON")
}

// booleanType is one byte: 0 is false and any other is true. The byte is kept as bound.
type booleanType struct{ fixedSize }

// LossyKey is true: the key of every byte but 0 is that of 1.
func (*booleanType) LossyKey() bool { return true }

// Compare puts false before true.
func (*booleanType) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	return cmp.Compare(truth(a), truth(b))
}

// truth is 0 or 1.
func truth(b []byte) byte {
	if b[0] != 0 {
		return 1
	}
	return 0
}

// AppendKey appends 0 or 1.
func (*booleanType) AppendKey(dst, b []byte, desc bool) []byte {
	if len(b) > 0 {
		b = []byte{truth(b)}
	}
	return appendFixedKey(dst, b, 0, desc)
}

// ParseLiteral takes true and false in any case.
func (*booleanType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != BooleanLiteral {
		return nil, ErrKind
	}
	return EncodeBoolean(strings.EqualFold(text, "true")), nil
}

// Format prints true or false, null for the empty value.
func (*booleanType) Format(b []byte) string {
	if len(b) == 0 {
		return noLiteral
	}
	return strconv.FormatBool(DecodeBoolean(b))
}

// ParseJSON takes true and false, or a string with one of them.
func (*booleanType) ParseJSON(v json.Value) ([]byte, error) {
	if truth, ok := v.(json.Boolean); ok {
		return EncodeBoolean(bool(truth)), nil
	}
	return jsonString(Boolean, v, "a boolean value")
}

// AppendJSON prints true or false.
func (*booleanType) AppendJSON(dst, b []byte) []byte { return appendJSONPlain(dst, Boolean, b) }

// EncodeBoolean returns the boolean v.
func EncodeBoolean(v bool) []byte {
	if v {
		return []byte{1}
	}
	return []byte{0}
}

// DecodeBoolean reads a valid boolean; the empty value is false.
func DecodeBoolean(b []byte) bool { return len(b) > 0 && b[0] != 0 }

// EncodeTinyInt returns the tinyint v.
func EncodeTinyInt(v int8) []byte { return []byte{byte(v)} }

// DecodeTinyInt reads a valid tinyint.
func DecodeTinyInt(b []byte) int8 {
	if len(b) != 1 {
		return 0
	}
	return int8(b[0])
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

// EncodeInt returns the int v.
func EncodeInt(v int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(v)) }

// DecodeInt reads a valid int; the empty value is 0.
func DecodeInt(b []byte) int32 {
	if len(b) != 4 {
		return 0
	}
	return int32(binary.BigEndian.Uint32(b))
}

// EncodeBigInt returns the bigint v.
func EncodeBigInt(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) }

// DecodeBigInt reads a valid bigint, counter, timestamp or time; the empty value is 0.
func DecodeBigInt(b []byte) int64 {
	if len(b) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}
