// Package javafloat reads, prints and computes floating-point numbers as Java 17 does, which CQL clients of Cassandra
// see.
package javafloat

import (
	"cmp"
	"errors"
	"math"
	"math/big"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
)

// Format prints a float (size 32) or a double (64): 1.0, 1.0E10, NaN, -Infinity. The digits identify the number, but
// they are not always the fewest or the nearest: 2e23 prints as 1.9999999999999998E23.
func Format(v float64, size int) string {
	sign := ""
	if math.Signbit(v) {
		sign = "-"
	}
	switch {
	case v != v:
		return "NaN"
	case math.IsInf(v, 0):
		return sign + "Infinity"
	case v == 0:
		return sign + "0.0"
	}
	digits, exponent := javaDigits(newBinaryFloat(math.Abs(v), size))
	return sign + placePoint(digits, exponent)
}

// placePoint prints 0.digits * 10^exponent with a point between digits, and with an exponent where Java has one.
func placePoint(digits string, exponent int) string {
	switch {
	case exponent > 0 && exponent < 8:
		digits += strings.Repeat("0", max(0, exponent+1-len(digits)))
		return digits[:exponent] + "." + digits[exponent:]
	case exponent <= 0 && exponent > -3:
		return "0." + strings.Repeat("0", -exponent) + digits
	case len(digits) == 1:
		digits += "0"
	}
	return digits[:1] + "." + digits[1:] + "E" + strconv.Itoa(exponent-1)
}

// binaryFloat is a number of precision significant bits: mantissa * 2^(exponent-52), the mantissa's highest bit being
// 52.
type binaryFloat struct {
	mantissa  uint64
	exponent  int
	precision int
}

// newBinaryFloat splits a positive number. Subnormal numbers have less precision.
func newBinaryFloat(v float64, size int) binaryFloat {
	f := binaryFloat{precision: 53}
	minExponent := -1022
	if size == 32 {
		f.precision, minExponent = 24, -126
	}
	fraction, exponent := math.Frexp(v)
	f.mantissa, f.exponent = uint64(math.Ldexp(fraction, 53)), exponent-1
	f.precision -= max(0, minExponent-f.exponent)
	return f
}

// javaDigits are the digits of a number, to be read as 0.digits * 10^exponent.
func javaDigits(f binaryFloat) (digits string, exponent int) {
	wide := 53 - bits.TrailingZeros64(f.mantissa) // bits of the mantissa without the zeros at its end
	fractionBits := max(0, wide-f.exponent-1)
	if f.exponent <= 62 && fractionBits == 0 {
		return wholeDigits(f)
	}
	d := newDigitMaker(f, wide, fractionBits)
	if d.bits < 32 {
		return smallDigits[int32](d)
	}
	if d.bits < 64 {
		return smallDigits[int64](d)
	}
	return bigDigits(d)
}

// wholeDigits returns the digits of a whole number below 2^63, rounded to its precision.
func wholeDigits(f binaryFloat) (digits string, exponent int) {
	n := f.mantissa >> max(0, 52-f.exponent) << max(0, f.exponent-52)
	dropped := 0
	if unknown := f.exponent - f.precision - 1; unknown > 1 {
		dropped = len(strconv.FormatUint(1<<unknown, 10)) - 1
		unit := power(10, dropped)
		n = (n + unit/2) / unit
	}
	digits = strconv.FormatUint(n, 10)
	return strings.TrimRight(digits, "0"), len(digits) + dropped
}

// power is base^n, which fits in 64 bits.
func power(base uint64, n int) uint64 {
	p := uint64(1)
	for range n {
		p *= base
	}
	return p
}

// digitMaker is a number as value/scale * 10^exponent, with half the distance to its neighbours as margin/scale. Each
// of the three is 5^five * 2^two, the value times mantissa.
type digitMaker struct {
	mantissa             uint64
	value, scale, margin powers
	exponent             int // of ten; an estimate, perhaps 1 too much
	bits                 int // upper bound of the largest of the numbers: selects 32, 64 or big arithmetic
}

type powers struct{ five, two int }

func (p powers) big() *big.Int {
	n := new(big.Int).Exp(big.NewInt(5), big.NewInt(int64(p.five)), nil)
	return n.Lsh(n, uint(p.two))
}

// bitLen is the number of bits of 5^n: 0 for n = 0, and the estimate 3n for large n.
func bitLen(n int) int {
	switch {
	case n == 0:
		return 0
	case n >= 27:
		return 3 * n
	}
	return bits.Len64(power(5, n))
}

func newDigitMaker(f binaryFloat, wide, fractionBits int) digitMaker {
	unit := math.Ldexp(float64(f.mantissa), -52)
	e := int(math.Floor((unit-1.5)*0.289529654 + 0.176091259 + float64(f.exponent)*0.301029995663981))
	d := digitMaker{mantissa: f.mantissa >> (53 - wide), exponent: e}
	d.value.five, d.scale.five = max(0, -e), max(0, e)
	d.value.two, d.scale.two = d.value.five+fractionBits+f.exponent, d.scale.five+fractionBits
	d.margin = powers{d.value.five, d.value.two - f.precision}
	d.value.two -= wide - 1
	common := min(d.value.two, d.scale.two)
	d.value.two, d.scale.two, d.margin.two = d.value.two-common, d.scale.two-common, d.margin.two-common
	if wide == 1 {
		d.margin.two-- // the neighbour below a power of two is nearer
	}
	if short := -d.margin.two; short > 0 {
		d.value.two, d.scale.two, d.margin.two = d.value.two+short, d.scale.two+short, 0
	}
	d.bits = max(wide+d.value.two+bitLen(d.value.five), d.scale.two+1+bitLen(d.scale.five+1))
	return d
}

// atLeastTwo reports whether the number is printed with an exponent, which needs two digits.
func (d *digitMaker) atLeastTwo() bool { return d.exponent < -3 || d.exponent >= 8 }

// smallDigits computes with numbers of 32 or 64 bits.
func smallDigits[T int32 | int64](d digitMaker) (digits string, exponent int) {
	number := func(p powers) T { return T(power(5, p.five)) << p.two }
	b, s, m := T(d.mantissa)*number(d.value), number(d.scale), number(d.margin)*10
	tens := s * 10
	var made []byte
	q, b := b/s, b%s*10
	low, high := b < m, b+m > tens
	if q == 0 && !high {
		d.exponent--
	} else {
		made = append(made, '0'+byte(q))
	}
	if d.atLeastTwo() {
		low, high = false, false
	}
	for !low && !high {
		q, b = b/s, b%s*10
		m *= 10
		low, high = m <= 0 || b < m, m <= 0 || b+m > tens // a margin too wide for T ends it
		made = append(made, '0'+byte(q))
	}
	return rounded(made, d.exponent+1, low, high, cmp.Compare(b<<1-tens, 0)) // the difference fits even if b<<1 does not
}

// bigDigits computes with numbers of any size.
func bigDigits(d digitMaker) (digits string, exponent int) {
	b, s, m := d.value.big(), d.scale.big(), d.margin.big()
	ten := big.NewInt(10)
	b.Mul(b, new(big.Int).SetUint64(d.mantissa))
	m.Mul(m, ten)
	tens := new(big.Int).Mul(s, ten)
	var low, high bool
	next := func() byte {
		q, rest := new(big.Int).QuoRem(b, s, new(big.Int))
		b.Mul(rest, ten)
		low, high = b.Cmp(m) < 0, new(big.Int).Add(b, m).Cmp(tens) >= 0
		return '0' + byte(q.Uint64())
	}
	var made []byte
	if q := next(); q == '0' && !high {
		d.exponent--
	} else {
		made = append(made, q)
	}
	if d.atLeastTwo() {
		low, high = false, false
	}
	for !low && !high {
		m.Mul(m, ten)
		made = append(made, next())
	}
	return rounded(made, d.exponent+1, low, high, b.Lsh(b, 1).Cmp(tens))
}

// rounded rounds the last digit up if only the number above is near enough, or is the nearer one: rest is the
// remainder compared with one half.
func rounded(digits []byte, exponent int, low, high bool, rest int) (string, int) {
	at := len(digits) - 1
	if !high || low && (rest < 0 || rest == 0 && digits[at]&1 == 0) {
		return string(digits), exponent
	}
	for ; at > 0 && digits[at] == '9'; at-- {
		digits[at] = '0'
	}
	if digits[at] == '9' {
		digits[at] = '1'
		return string(digits), exponent + 1
	}
	digits[at]++
	return string(digits), exponent
}

// Parse reads a CQL literal: a number, NaN or Infinity in any case. Numbers out of range become infinite.
func Parse(text string, size int) (v float64, ok bool) {
	if strings.EqualFold(strings.TrimPrefix(text, "-"), "NaN") {
		return math.NaN(), true
	}
	v, err := strconv.ParseFloat(text, size)
	return v, err == nil || errors.Is(err, strconv.ErrRange)
}

// numberForm matches the numbers of Java's parseDouble, possibly hexadecimal or with a type suffix. Its groups: the
// sign, and the number without suffix.
var numberForm = regexp.MustCompile(`^([+-]?)(?:NaN|Infinity|` +
	`((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|` +
	`0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?)$`)

// ParseJava reads a text as Java's parseDouble does.
func ParseJava(text string) (float64, bool) {
	number, ok := Literal(text)
	if !ok {
		return 0, false
	}
	return Parse(number, 64)
}

// Literal strips white space, a plus and the type suffix from a number as Java's parseDouble reads it: 1f, 0x1p3,
// +Infinity. Parse reads the result.
func Literal(text string) (number string, ok bool) {
	number = strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	switch parts := numberForm.FindStringSubmatch(number); {
	case parts == nil:
		return "", false
	case parts[2] != "":
		return parts[1] + parts[2], true
	}
	return strings.TrimPrefix(number, "+"), true
}
