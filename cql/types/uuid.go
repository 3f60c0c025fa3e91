package types

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/types/json"
)

// uuidType is a UUID of any version. UUIDs sort by version, then by time if it is version 1.
type uuidType struct{ fixedSize }

// Compare orders by version, then by time if both are of version 1, then by bytes.
func (*uuidType) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	if order := cmp.Compare(uuidOrder(a), uuidOrder(b)); order != 0 {
		return order
	}
	return bytes.Compare(a[8:], b[8:])
}

// uuidOrder is the first half of a UUID with its version in the highest bits; the time of version 1 follows with its
// most significant bits first.
func uuidOrder(b []byte) uint64 {
	half := binary.BigEndian.Uint64(b)
	if version := half >> 12 & 0xF; version != 1 {
		return version<<60 | half>>4&^uint64(0xF000000000000FFF) | half&0xFFF
	}
	return timeFirst(half)
}

// timeFirst reorders the first half of a version 1 UUID: the version, then the time with its most significant bits
// first.
func timeFirst(half uint64) uint64 {
	return half<<48 | half<<16&0xFFFF00000000 | half>>32
}

// timeLast undoes timeFirst.
func timeLast(order uint64) uint64 {
	return order<<32 | order>>16&0xFFFF0000 | order>>48
}

// AppendKey appends the version and the time before the other bytes.
func (*uuidType) AppendKey(dst, b []byte, desc bool) []byte {
	if len(b) == 0 {
		return append(dst, keyEmpty^mask(desc))
	}
	return appendUUIDKey(dst, uuidOrder(b), binary.BigEndian.Uint64(b[8:]), desc)
}

// appendUUIDKey appends the two halves of a UUID, which sort as unsigned numbers.
func appendUUIDKey(dst []byte, first, second uint64, desc bool) []byte {
	dst = append(dst, keyValue^mask(desc))
	if desc {
		first, second = ^first, ^second
	}
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, first), second)
}

// DecodeKey moves version and time to their places in a UUID.
func (*uuidType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	n := len(dst)
	value, rest, err = decodeFixedKey(dst, key, 16, 0, desc)
	if err != nil || len(value) == n {
		return value, rest, err
	}
	order := binary.BigEndian.Uint64(value[n:])
	half := timeLast(order)
	if version := order >> 60; version != 1 {
		half = order<<4&0xFFFFFFFFFFFF0000 | version<<12 | order&0xFFF
	}
	binary.BigEndian.PutUint64(value[n:], half)
	return value, rest, nil
}

// ParseLiteral takes a UUID of any version.
func (*uuidType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != UUIDLiteral {
		return nil, ErrKind
	}
	u, ok := ParseUUID(text)
	if !ok {
		return nil, invalidf("Unable to make UUID from '%s'", text)
	}
	return u[:], nil
}

// Format prints the UUID without quotes, null for the empty value.
func (*uuidType) Format(b []byte) string {
	if len(b) != 16 {
		return noLiteral
	}
	return FormatUUID([16]byte(b))
}

// ParseJSON takes a string with a UUID.
func (*uuidType) ParseJSON(v json.Value) ([]byte, error) {
	return jsonString(UUID, v, "a string representation of a uuid")
}

// AppendJSON prints the UUID as a string.
func (*uuidType) AppendJSON(dst, b []byte) []byte { return appendJSONQuoted(dst, UUID, b) }

// ParseUUID reads 8-4-4-4-12 hexadecimal digits.
func ParseUUID(text string) (u [16]byte, ok bool) {
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return u, false
	}
	digits := text[:8] + text[9:13] + text[14:18] + text[19:23] + text[24:]
	_, err := hex.Decode(u[:], []byte(digits))
	return u, err == nil
}

// ParseJavaUUID reads a UUID as Java's UUID.fromString does: five hexadecimal numbers of any length, of which the last
// digits count.
func ParseJavaUUID(text string) (u [16]byte, ok bool) {
	groups := strings.Split(text, "-")
	if len(groups) != 5 || len(text) > 36 {
		return u, false
	}
	id := u[:0]
	for i, size := range [...]int{4, 2, 2, 2, 6} {
		n, err := strconv.ParseInt(groups[i], 16, 64)
		if err != nil {
			return u, false
		}
		id = append(id, binary.BigEndian.AppendUint64(nil, uint64(n))[8-size:]...)
	}
	return u, true
}

// FormatUUID prints a UUID in lower case.
func FormatUUID(u [16]byte) string {
	var text [36]byte
	hex.Encode(text[:], u[:4])
	for i, at := range [...]int{8, 13, 18} {
		text[at] = '-'
		hex.Encode(text[at+1:], u[4+2*i:6+2*i])
	}
	text[23] = '-'
	hex.Encode(text[24:], u[10:])
	return string(text[:])
}

// RandomUUID makes 16 random bytes a UUID of version 4.
func RandomUUID(random [16]byte) [16]byte {
	random[6] = random[6]&0x0F | 0x40
	random[8] = random[8]&0x3F | 0x80
	return random
}

// LexicalUUID is a UUID whose two halves sort as signed numbers. CQL has no name for it.
var LexicalUUID Type = &lexicalUUIDType{uuidSize("'"+marshalPackage+"LexicalUUIDType'", "LexicalUUIDType")}

type lexicalUUIDType struct{ fixedSize }

// FixedLength is 0, as in Cassandra.
func (*lexicalUUIDType) FixedLength() int { return 0 }

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
func (t *lexicalUUIDType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	switch {
	case kind == HexLiteral:
		b, err := parseHex(text)
		if err != nil {
			return nil, err
		}
		return b, t.Validate(b)
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
func (*lexicalUUIDType) ParseJSON(v json.Value) ([]byte, error) {
	return jsonString(LexicalUUID, v, "a string representation of a uuid")
}

// AppendJSON prints the digits as for other UUIDs.
func (*lexicalUUIDType) AppendJSON(dst, b []byte) []byte { return UUID.AppendJSON(dst, b) }
