package types

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/big"
	"strings"

	"github.com/cqld/cqld/cql/types/json"
)

// varintType is a number of any size: two's complement, most significant byte first. Literals are as short as can be;
// bound bytes are kept unchanged, even if a shorter form exists.
type varintType struct{ native }

// LossyKey is true: bytes may begin with redundant copies of the sign.
func (*varintType) LossyKey() bool { return true }

// Validate takes any bytes.
func (*varintType) Validate([]byte) error { return nil }

// Compare orders by the number, ignoring redundant sign bytes.
func (*varintType) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	a, b = minimalVarInt(a), minimalVarInt(b)
	negative := a[0]&signBit != 0
	if other := b[0]&signBit != 0; negative != other {
		if negative {
			return -1
		}
		return 1
	}
	if order := cmp.Compare(len(a), len(b)); order != 0 {
		if negative {
			return -order
		}
		return order
	}
	return bytes.Compare(a, b)
}

// minimalVarInt leaves out the leading bytes of b, which is not empty, that only repeat the sign.
func minimalVarInt(b []byte) []byte {
	for len(b) > 1 && (b[0] == 0 && b[1]&signBit == 0 || b[0] == 0xFF && b[1]&signBit != 0) {
		b = b[1:]
	}
	return b
}

// The first byte of a key: keyEmpty, or sign and length together. A length that does not fit follows in
// four bytes. All of it is inverted for negative numbers, so longer ones come first.
const (
	varintShort     = 0x7D // the greatest length that fits in the first byte
	varintLong      = 0xFE
	varintLongBelow = 0x01
)

// AppendKey appends the number of bytes, then the shortest bytes of the number.
func (*varintType) AppendKey(dst, b []byte, desc bool) []byte {
	m := mask(desc)
	if len(b) == 0 {
		return append(dst, keyEmpty^m)
	}
	b = minimalVarInt(b)
	lengthMask := m
	if b[0]&signBit != 0 {
		lengthMask = ^m
	}
	if len(b) <= varintShort {
		dst = append(dst, (0x80+byte(len(b)))^lengthMask)
	} else {
		n := len(dst) + 1
		dst = binary.BigEndian.AppendUint32(append(dst, varintLong^lengthMask), uint32(len(b)))
		for i := range dst[n:] {
			dst[n+i] ^= lengthMask
		}
	}
	for _, c := range b {
		dst = append(dst, c^m)
	}
	return dst
}

// DecodeKey gives the shortest bytes of the number.
func (*varintType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	if len(key) == 0 {
		return nil, nil, errKey
	}
	m := mask(desc)
	first := key[0] ^ m
	key = key[1:]
	if first == keyEmpty {
		return notNil(dst), key, nil
	}
	lengthMask := byte(0)
	if first&signBit == 0 {
		lengthMask = 0xFF
	}
	length := uint32((first ^ lengthMask) & 0x7F)
	if first == varintLong || first == varintLongBelow {
		if len(key) < 4 {
			return nil, nil, errKey
		}
		length = binary.BigEndian.Uint32(key)
		if lengthMask^m != 0 {
			length = ^length
		}
		key = key[4:]
	}
	if length == 0 || uint64(length) > uint64(len(key)) {
		return nil, nil, errKey
	}
	for _, c := range key[:length] {
		dst = append(dst, c^m)
	}
	return dst, key[length:], nil
}

// ParseLiteral takes an integer of any size.
func (*varintType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != IntegerLiteral {
		return nil, ErrKind
	}
	v, ok := parseInteger(text)
	if !ok {
		return nil, invalidf("unable to make int from '%s'", text)
	}
	return EncodeVarInt(v), nil
}

// Format prints decimal digits, null for the empty value.
func (*varintType) Format(b []byte) string {
	if len(b) == 0 {
		return noLiteral
	}
	return DecodeVarInt(b).String()
}

// ParseJSON takes anything whose text is digits.
func (*varintType) ParseJSON(v json.Value) ([]byte, error) {
	n, ok := parseInteger(v.String())
	if !ok {
		return nil, invalidf("Value '%s' is not a valid representation of a varint value", v)
	}
	return EncodeVarInt(n), nil
}

// AppendJSON prints a number.
func (*varintType) AppendJSON(dst, b []byte) []byte { return appendJSONPlain(dst, VarInt, b) }

// shortInteger is the number of digits parsed at once: the cost of parsing in math/big grows with the square of the
// length.
const shortInteger = 1 << 10

// parseInteger reads digits after an optional sign.
func parseInteger(text string) (*big.Int, bool) {
	if len(text) <= shortInteger {
		return new(big.Int).SetString(text, 10)
	}
	digits := strings.TrimLeft(text[:1], "+-") + text[1:]
	if strings.Trim(digits, "0123456789") != "" {
		return nil, false
	}
	// Join pairs of neighbours until one number is left; all but the first have the same number of digits.
	var parts []*big.Int
	for first := (len(digits)-1)%shortInteger + 1; digits != ""; first = shortInteger {
		part, _ := new(big.Int).SetString(digits[:first], 10)
		parts, digits = append(parts, part), digits[first:]
	}
	for power := new(big.Int).Exp(big.NewInt(10), big.NewInt(shortInteger), nil); len(parts) > 1; {
		odd := len(parts) % 2
		joined := parts[:odd]
		for i := odd; i < len(parts); i += 2 {
			joined = append(joined, parts[i].Mul(parts[i], power).Add(parts[i], parts[i+1]))
		}
		if parts = joined; len(parts) > 1 {
			power = new(big.Int).Mul(power, power)
		}
	}
	if text[0] == '-' {
		parts[0].Neg(parts[0])
	}
	return parts[0], true
}

// EncodeVarInt encodes v in the fewest bytes.
func EncodeVarInt(v *big.Int) []byte {
	if v.Sign() >= 0 {
		b := make([]byte, v.BitLen()/8+1)
		return v.FillBytes(b)
	}
	// The complement of -v-1 in bits is v in two's complement.
	u := new(big.Int).Not(v)
	b := u.FillBytes(make([]byte, u.BitLen()/8+1))
	for i := range b {
		b[i] = ^b[i]
	}
	return b
}

// DecodeVarInt reads a varint; the empty value is 0.
func DecodeVarInt(b []byte) *big.Int {
	v := new(big.Int)
	if len(b) == 0 || b[0]&signBit == 0 {
		return v.SetBytes(b)
	}
	u := make([]byte, len(b))
	for i, c := range b {
		u[i] = ^c
	}
	return v.Not(v.SetBytes(u))
}
