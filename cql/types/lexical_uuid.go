package types

import (
	"cmp"
	"encoding/binary"
)

// LexicalUUID is a UUID whose two halves sort as signed numbers. CQL has no name for it.
var LexicalUUID Type = &lexicalUUIDType{native{"'" + marshalPackage + "LexicalUUIDType'", "LexicalUUIDType"}}

type lexicalUUIDType struct{ native }

// Validate takes 16 bytes or none.
func (*lexicalUUIDType) Validate(b []byte) error { return validateUUIDSize(b) }

// Compare orders by the two halves as signed numbers of 64 bits.
func (*lexicalUUIDType) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	if order := cmp.Compare(signedHalf(a), signedHalf(b)); order != 0 {
		return order
	}
	return cmp.Compare(signedHalf(a[8:]), signedHalf(b[8:]))
}

func signedHalf(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }

// AppendKey inverts the sign bits of both halves.
func (*lexicalUUIDType) AppendKey(dst, b []byte, desc bool) []byte {
	if len(b) == 0 {
		return append(dst, keyEmpty^mask(desc))
	}
	const sign = signBit << 56
	return appendUUIDKey(dst, binary.BigEndian.Uint64(b)^sign, binary.BigEndian.Uint64(b[8:])^sign, desc)
}

// DecodeKey inverts the sign bits back.
func (*lexicalUUIDType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	n := len(dst)
	value, rest, err = decodeFixedKey(dst, key, 16, signBit, desc)
	if err == nil && len(value) > n {
		value[n+8] ^= signBit
	}
	return value, rest, err
}

// ParseLiteral takes every kind of literal: as bytes in hex, else as five numbers in hex of any length, of which the
// last digits count.
func (*lexicalUUIDType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	switch {
	case kind == HexLiteral:
		b, err := parseHex(text)
		if err != nil {
			return nil, err
		}
		return b, validateUUIDSize(b)
	case text == "":
		return []byte{}, nil
	}
	u, ok := ParseJavaUUID(text)
	if !ok {
		return nil, invalidf("unable to make UUID from '%s'", text)
	}
	return u[:], nil
}

// Format prints the bytes in hex.
func (*lexicalUUIDType) Format(b []byte) string { return Blob.Format(b) }

// ParseJSON takes a string with a UUID.
func (*lexicalUUIDType) ParseJSON(v JSON) ([]byte, error) {
	return jsonString(LexicalUUID, v, "a string representation of a uuid")
}

// AppendJSON prints the digits as those of other UUIDs.
func (*lexicalUUIDType) AppendJSON(dst, b []byte) []byte { return UUID.AppendJSON(dst, b) }
