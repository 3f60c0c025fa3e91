package types

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/types/json"
)

// decimalType is a decimal number of any size: a scale of 4 bytes, and the number without its decimal
// point as a varint. 1.0 and 1.00 are equal but are different bytes.
type decimalType struct{ native }

// LossyKey is true: 1.0 and 1.00 have one key.
func (*decimalType) LossyKey() bool { return true }

// Validate takes no bytes, or a scale of 4 and any others.
func (*decimalType) Validate(b []byte) error {
	if len(b) > 0 && len(b) < 4 {
		return invalidf("Expected 0 or at least 4 bytes (%d)", len(b))
	}
	return nil
}

// Compare orders by the number. It converts numbers of different scales to digits only if their magnitudes are close.
func (*decimalType) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	u, scale := DecodeDecimal(a)
	v, other := DecodeDecimal(b)
	if scale == other {
		return u.Cmp(v)
	}
	if u.Sign() != v.Sign() {
		return cmp.Compare(u.Sign(), v.Sign())
	}
	low, high := minExponent(u, scale), minExponent(v, other)
	if low > high+1 || high > low+1 { // one of them may be one more
		return cmp.Compare(low, high) * u.Sign()
	}
	x, y := significand(a), significand(b)
	switch {
	case x.sign != y.sign:
		return cmp.Compare(x.sign, y.sign)
	case x.exponent != y.exponent:
		return cmp.Compare(x.exponent, y.exponent) * x.sign
	}
	return strings.Compare(x.digits, y.digits) * x.sign
}

// minExponent is a lower bound of a decimal's exponent in scientific notation: the exponent, or one less.
func minExponent(unscaled *big.Int, scale int32) int64 {
	return int64(float64(max(unscaled.BitLen()-1, 0))*math.Log10(2)*(1-1e-15)) + 1 - int64(scale)
}

// scientific is a decimal as sign * 0.digits * 10^exponent, digits having zeros at neither end. Of two
// with one sign the greater exponent is farther from zero, then the greater string of digits.
type scientific struct {
	sign     int
	digits   string
	exponent int64
}

// significand splits a decimal; zero is the zero scientific.
func significand(b []byte) scientific {
	unscaled, scale := DecodeDecimal(b)
	if unscaled.Sign() == 0 {
		return scientific{}
	}
	digits := new(big.Int).Abs(unscaled).Text(10)
	return scientific{
		sign:     unscaled.Sign(),
		digits:   strings.TrimRight(digits, "0"),
		exponent: int64(len(digits)) - int64(scale),
	}
}

// A key is the sign, the exponent in 5 bytes, the digits in pairs from 1 to 100, and zero; for negative
// numbers everything after the sign is inverted.
const (
	decimalBelow = 0x01
	decimalZero  = 0x02
	decimalAbove = 0x03

	decimalExponentBias = 1 << 39

	// maxKeyDigits limits the zeros that are restored to a number whose scale is at the end of the range. A key of 64
	// KiB, the maximum, has fewer digits.
	maxKeyDigits = 1 << 18
)

// AppendKey appends the sign, the exponent and the digits in pairs.
func (*decimalType) AppendKey(dst, b []byte, desc bool) []byte {
	m := mask(desc)
	if len(b) == 0 {
		return append(dst, keyEmpty^m)
	}
	s := significand(b)
	dst = append(dst, byte(decimalZero+s.sign)^m)
	if s.sign == 0 {
		return dst
	}
	if s.sign < 0 {
		m = ^m
	}
	n := len(dst)
	e := uint64(s.exponent + decimalExponentBias)
	dst = append(dst, byte(e>>32), byte(e>>24), byte(e>>16), byte(e>>8), byte(e))
	for i := 0; i < len(s.digits); i += 2 {
		pair := (s.digits[i] - '0') * 10
		if i+1 < len(s.digits) {
			pair += s.digits[i+1] - '0'
		}
		dst = append(dst, pair+1)
	}
	dst = append(dst, 0)
	for i := range dst[n:] {
		dst[n+i] ^= m
	}
	return dst
}

// DecodeKey returns the number without trailing zeros.
func (*decimalType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	if len(key) == 0 {
		return nil, nil, errKey
	}
	m := mask(desc)
	first := key[0] ^ m
	key = key[1:]
	switch first {
	case keyEmpty:
		return notNil(dst), key, nil
	case decimalZero:
		return append(dst, 0, 0, 0, 0, 0), key, nil
	case decimalBelow:
		m = ^m
	case decimalAbove:
	default:
		return nil, nil, errKey
	}
	if len(key) < 5 {
		return nil, nil, errKey
	}
	e := uint64(0)
	for _, c := range key[:5] {
		e = e<<8 | uint64(c^m)
	}
	digits, rest, err := decodeDigits(key[5:], m)
	if err != nil {
		return nil, nil, err
	}
	scale := int64(len(digits)) - (int64(e) - decimalExponentBias)
	if missing := math.MinInt32 - scale; missing > 0 && missing < maxKeyDigits {
		digits += strings.Repeat("0", int(missing))
		scale = math.MinInt32
	}
	unscaled, ok := parseInteger(digits)
	if !ok || scale != int64(int32(scale)) {
		return nil, nil, errKey
	}
	if first == decimalBelow {
		unscaled.Neg(unscaled)
	}
	return append(dst, EncodeDecimal(unscaled, int32(scale))...), rest, nil
}

// decodeDigits reads pairs of digits up to the terminating zero.
func decodeDigits(key []byte, m byte) (digits string, rest []byte, err error) {
	var pairs []byte
	for i, c := range key {
		c ^= m
		if c == 0 {
			return strings.TrimRight(string(pairs), "0"), key[i+1:], nil
		}
		if c > 100 {
			break
		}
		pairs = append(pairs, '0'+(c-1)/10, '0'+(c-1)%10)
	}
	return "", nil, errKey
}

// ParseLiteral takes an integer, or a number with a point, an exponent or both.
func (*decimalType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != IntegerLiteral && kind != FloatLiteral {
		return nil, ErrKind
	}
	unscaled, scale, ok := parseDecimal(text)
	if !ok {
		return nil, invalidf("unable to make BigDecimal from '%s'", text)
	}
	return EncodeDecimal(unscaled, scale), nil
}

// parseDecimal reads digits with an optional point and exponent. The scale is the number of digits after the point,
// minus the exponent.
func parseDecimal(text string) (unscaled *big.Int, scale int32, ok bool) {
	mantissa, exponent := text, int64(0)
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.ParseInt(text[i+1:], 10, 32); err != nil {
			return nil, 0, false
		}
		mantissa = text[:i]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if strings.ContainsAny(fraction, "+-") {
		return nil, 0, false
	}
	unscaled, ok = parseInteger(whole + fraction)
	long := int64(len(fraction)) - exponent
	if !ok || long < math.MinInt32 || long > math.MaxInt32 {
		return nil, 0, false
	}
	return unscaled, int32(long), true
}

// Format prints as Java's BigDecimal does: with an exponent if the scale is negative or the number below 0.000001.
func (*decimalType) Format(b []byte) string {
	if len(b) == 0 {
		return noLiteral
	}
	unscaled, scale := DecodeDecimal(b)
	digits := new(big.Int).Abs(unscaled).Text(10)
	sign := ""
	if unscaled.Sign() < 0 {
		sign = "-"
	}
	exponent := int64(len(digits)) - 1 - int64(scale)
	switch {
	case scale == 0:
		return sign + digits
	case scale > 0 && exponent >= -6:
		if missing := int(scale) + 1 - len(digits); missing > 0 {
			digits = strings.Repeat("0", missing) + digits
		}
		point := len(digits) - int(scale)
		return sign + digits[:point] + "." + digits[point:]
	}
	if len(digits) > 1 {
		digits = digits[:1] + "." + digits[1:]
	}
	plus := ""
	if exponent > 0 {
		plus = "+"
	}
	if exponent == 0 {
		return sign + digits
	}
	return sign + digits + "E" + plus + strconv.FormatInt(exponent, 10)
}

// ParseJSON takes anything whose text is a number.
func (*decimalType) ParseJSON(v json.Value) ([]byte, error) {
	b, err := fromString(Decimal, v.String())
	if err != nil {
		return nil, invalidf("Value '%s' is not a valid representation of a decimal value", v)
	}
	return b, nil
}

// AppendJSON prints a number, as Format does.
func (*decimalType) AppendJSON(dst, b []byte) []byte { return appendJSONPlain(dst, Decimal, b) }

// EncodeDecimal returns the decimal unscaled / 10^scale.
func EncodeDecimal(unscaled *big.Int, scale int32) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(scale)), EncodeVarInt(unscaled)...)
}

// DecodeDecimal reads a valid decimal; the empty value is 0.
func DecodeDecimal(b []byte) (unscaled *big.Int, scale int32) {
	if len(b) < 4 {
		return new(big.Int), 0
	}
	return DecodeVarInt(b[4:]), int32(binary.BigEndian.Uint32(b))
}
