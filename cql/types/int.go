package types

import (
	"cmp"
	"encoding/binary"
	"strconv"
)

// intType is a signed number of 4 bytes.
type intType struct{ native }

func (*intType) Validate(b []byte) error {
	if len(b) != 4 && len(b) != 0 {
		return invalidf("Expected 4 or 0 byte int (%d)", len(b))
	}
	return nil
}

func (*intType) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	return cmp.Compare(int32(binary.BigEndian.Uint32(a)), int32(binary.BigEndian.Uint32(b)))
}

func (*intType) AppendKey(dst, b []byte, desc bool) []byte {
	return appendFixedKey(dst, b, signBit, desc)
}

func (*intType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	return decodeFixedKey(dst, key, 4, signBit, desc)
}

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

func (*intType) Format(b []byte) string {
	if len(b) != 4 {
		return noLiteral
	}
	return strconv.FormatInt(int64(int32(binary.BigEndian.Uint32(b))), 10)
}

func (*intType) ParseJSON(v JSON) ([]byte, error) {
	return jsonInteger(Int, v, "an int value")
}

func (*intType) AppendJSON(dst, b []byte) []byte { return appendJSONPlain(dst, Int, b) }

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
