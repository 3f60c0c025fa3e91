package java

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
)

// maxDigits bounds the decimal digits of numbers that are computed with, as in cql/functions, so that no operation
// takes much longer than a tenth of a second. Java has no such bound; its operations take until the time limit.
const maxDigits = 100_000

// maxBits is how many bits numbers of maxDigits have.
const maxBits = maxDigits*3322/1000 + 1

// checkBits refuses numbers that are too long.
func checkBits(bits int64) {
	if bits > maxBits {
		throw(classArithmeticException, "numbers of more than "+strconv.Itoa(maxDigits)+" digits are not computed by cqld")
	}
}

// words is the size of a number that is computed with.
func words(v *big.Int) int {
	checkBits(int64(v.BitLen()))
	return v.BitLen()/64 + 1
}

// bigInteger is a BigInteger.
type bigInteger struct{ v *big.Int }

func (t *thread) bigInteger(v *big.Int) *bigInteger {
	t.alloc(96 + v.BitLen()/8)
	return &bigInteger{v}
}

func (*bigInteger) class() *class { return classBigInteger }

func (b *bigInteger) hash(t *thread) int32 { return hashBig(t, b.v) }

// hashBig is the hash code of a BigInteger.
func hashBig(t *thread, v *big.Int) int32 {
	t.grow(v.BitLen()/8, 1)
	var h int32
	bytes := v.Bytes()
	for len(bytes)%4 != 0 {
		bytes = append([]byte{0}, bytes...)
	}
	for i := 0; i < len(bytes); i += 4 {
		h = 31*h + int32(uint32(bytes[i])<<24|uint32(bytes[i+1])<<16|uint32(bytes[i+2])<<8|uint32(bytes[i+3]))
	}
	return h * int32(v.Sign())
}

func (b *bigInteger) equals(t *thread, o object) bool {
	other, ok := o.(*bigInteger)
	return ok && compareBig(t, b.v, other.v) == 0
}

func (b *bigInteger) compare(t *thread, o object) int { return compareBig(t, b.v, o.(*bigInteger).v) }
func (b *bigInteger) text(t *thread) *str             { return t.ascii(bigText(t, b.v, 10)) }
func (b *bigInteger) int64(*thread) int64             { return lowBits(b.v) }

func compareBig(t *thread, a, b *big.Int) int {
	t.charge(min(a.BitLen(), b.BitLen()) / (64 * sizePerStep))
	return a.Cmp(b)
}

func (b *bigInteger) float64(*thread) float64 {
	f, _ := new(big.Float).SetInt(b.v).Float64()
	return f
}

// lowBits are the last 64 bits of a number, as longValue returns them.
func lowBits(v *big.Int) int64 {
	if v.IsInt64() {
		return v.Int64()
	}
	u := new(big.Int).And(v, new(big.Int).SetUint64(math.MaxUint64))
	return int64(u.Uint64())
}

func bigText(t *thread, v *big.Int, radix int) string {
	work(t, v, v)
	return v.Text(radix)
}

// work charges for an operation whose time grows with the product of two numbers.
func work(t *thread, a, b *big.Int) { t.charge(words(a) * words(b) / (2 * sizePerStep)) }

// modPow is b^e modulo m. A long exponent is cut into parts, because b^e can take hours.
func modPow(t *thread, b, e, m *big.Int) (r *big.Int) {
	size := words(m) * words(m)
	part := max(1, 1<<20/size) // bits
	for rest := e.BitLen(); rest > 0; {
		n := min(part, rest)
		rest -= n
		t.charge(size * (n + 1))
		x := new(big.Int).Rsh(e, uint(rest))
		x.And(x, lowMask(n))
		x.Exp(b, x, m)
		if r != nil {
			r.Exp(r, new(big.Int).Lsh(big.NewInt(1), uint(n)), m)
			x.Mod(x.Mul(x, r), m)
		}
		r = x
	}
	if r == nil {
		r = new(big.Int).Mod(big.NewInt(1), m)
	}
	return r
}

// lowMask has the lowest n bits.
func lowMask(n int) *big.Int {
	one := big.NewInt(1)
	return new(big.Int).Sub(new(big.Int).Lsh(one, uint(n)), one)
}

// bigDecimal is a BigDecimal: unscaled / 10^scale.
type bigDecimal struct {
	unscaled *big.Int
	scale    int32
}

func (t *thread) bigDecimal(unscaled *big.Int, scale int64) *bigDecimal {
	if scale != int64(int32(scale)) {
		if scale > 0 {
			throw(classArithmeticException, "Underflow")
		}
		throw(classArithmeticException, "Overflow")
	}
	t.alloc(112 + unscaled.BitLen()/8)
	return &bigDecimal{unscaled, int32(scale)}
}

func (*bigDecimal) class() *class { return classBigDecimal }

func (d *bigDecimal) hash(t *thread) int32 { return 31*hashBig(t, d.unscaled) + d.scale }

func (d *bigDecimal) equals(t *thread, o object) bool {
	other, ok := o.(*bigDecimal)
	return ok && d.scale == other.scale && compareBig(t, d.unscaled, other.unscaled) == 0
}

func (d *bigDecimal) compare(t *thread, o object) int {
	other := o.(*bigDecimal)
	a, b := d.unscaled, other.unscaled
	if a.Sign() != b.Sign() || a.Sign() == 0 {
		return cmp.Compare(a.Sign(), b.Sign())
	}
	// Only numbers of about the same size are worth writing out.
	x := int64(precision(t, a)) - int64(d.scale)
	y := int64(precision(t, b)) - int64(other.scale)
	switch {
	case x < y:
		return -a.Sign()
	case x > y:
		return a.Sign()
	}
	a, b, _ = align(t, d, other)
	return a.Cmp(b)
}

func (d *bigDecimal) text(t *thread) *str { return t.ascii(d.format(t)) }

// format is BigDecimal.toString.
func (d *bigDecimal) format(t *thread) string {
	digits := bigText(t, new(big.Int).Abs(d.unscaled), 10)
	sign := ""
	if d.unscaled.Sign() < 0 {
		sign = "-"
	}
	if d.scale == 0 {
		return sign + digits
	}
	exponent := int64(len(digits)) - 1 - int64(d.scale)
	if d.scale > 0 && exponent >= -6 {
		return sign + plain(digits, int(d.scale))
	}
	if len(digits) > 1 {
		digits = digits[:1] + "." + digits[1:]
	}
	if exponent == 0 {
		return sign + digits
	}
	mark := "E"
	if exponent > 0 {
		mark = "E+"
	}
	return sign + digits + mark + strconv.FormatInt(exponent, 10)
}

// plain puts the decimal point before the last scale digits.
func plain(digits string, scale int) string {
	if pad := scale + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	return digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}

func (d *bigDecimal) plainText(t *thread) string {
	digits := bigText(t, new(big.Int).Abs(d.unscaled), 10)
	t.grow(int(max(d.scale, -d.scale, 0)), 2)
	switch {
	case d.scale > 0:
		digits = plain(digits, int(d.scale))
	case d.scale < 0 && d.unscaled.Sign() != 0:
		digits += strings.Repeat("0", -int(d.scale))
	}
	if d.unscaled.Sign() < 0 {
		return "-" + digits
	}
	return digits
}

// whole is the number without its fraction.
func (d *bigDecimal) whole(t *thread) *big.Int {
	if d.scale <= 0 {
		return scaleUp(t, d.unscaled, -int64(d.scale))
	}
	if int64(d.scale) > int64(precision(t, d.unscaled)) {
		return new(big.Int)
	}
	return new(big.Int).Quo(d.unscaled, tenTo(t, int64(d.scale)))
}

// int64 is longValue. The numbers with a large negative scale are multiples of 2^64.
func (d *bigDecimal) int64(t *thread) int64 {
	if d.scale <= -64 {
		return 0
	}
	return lowBits(d.whole(t))
}

func (d *bigDecimal) float64(t *thread) float64 {
	f, _ := strconv.ParseFloat(bigText(t, d.unscaled, 10)+"e"+strconv.FormatInt(-int64(d.scale), 10), 64)
	return f
}

func bigTen(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

// tenTo is 10^n, charged before it is computed.
func tenTo(t *thread, n int64) *big.Int {
	checkBits(n * 3)
	t.grow(int(n), 1)
	t.charge(int(n * n / (64 * 64)))
	return bigTen(n)
}

// precision is the number of digits; that of 0 is 1.
func precision(t *thread, v *big.Int) int {
	if v.Sign() == 0 {
		return 1
	}
	work(t, v, v)
	n := int(float64(v.BitLen()-1) * 0.30102999566398114)
	t.grow(n, 1)
	if new(big.Int).Abs(v).Cmp(bigTen(int64(n))) >= 0 {
		n++
		if new(big.Int).Abs(v).Cmp(bigTen(int64(n))) >= 0 {
			n++
		}
	}
	return n
}

// align returns the numbers at the larger of their scales.
func align(t *thread, a, b *bigDecimal) (x, y *big.Int, scale int64) {
	x, y, scale = a.unscaled, b.unscaled, int64(a.scale)
	switch {
	case a.scale < b.scale:
		scale = int64(b.scale)
		x = scaleUp(t, x, int64(b.scale)-int64(a.scale))
	case a.scale > b.scale:
		y = scaleUp(t, y, int64(a.scale)-int64(b.scale))
	}
	return x, y, scale
}

// scaleUp is v * 10^n.
func scaleUp(t *thread, v *big.Int, n int64) *big.Int {
	if v.Sign() == 0 || n == 0 {
		return v
	}
	checkBits(int64(v.BitLen()) + min(n, maxBits)*3)
	p := tenTo(t, n)
	work(t, v, p)
	return new(big.Int).Mul(v, p)
}

// rounding is a RoundingMode, in Java's order.
type rounding int8

const (
	roundUp rounding = iota
	roundDown
	roundCeiling
	roundFloor
	roundHalfUpMode
	roundHalfDown
	roundHalfEven
	roundUnnecessary
)

var roundingNames = []string{"UP", "DOWN", "CEILING", "FLOOR", "HALF_UP", "HALF_DOWN", "HALF_EVEN", "UNNECESSARY"}

// roundingMode is the object of a rounding.
type roundingMode struct {
	identity
	mode rounding
}

var roundingModes = func() (all [8]*roundingMode) {
	for i := range all {
		all[i] = &roundingMode{mode: rounding(i)}
	}
	return all
}()

func (*roundingMode) class() *class                     { return classRoundingMode }
func (m *roundingMode) equals(_ *thread, o object) bool { return o == object(m) }
func (m *roundingMode) text(t *thread) *str             { return t.ascii(roundingNames[m.mode]) }

// mathContext is a MathContext.
type mathContext struct {
	precision int
	mode      rounding
}

func (*mathContext) class() *class        { return classMathContext }
func (m *mathContext) hash(*thread) int32 { return int32(m.precision) + int32(m.mode)*59 }
func (m *mathContext) equals(_ *thread, o object) bool {
	other, ok := o.(*mathContext)
	return ok && *m == *other
}

func (m *mathContext) text(t *thread) *str {
	return t.ascii("precision=" + strconv.Itoa(m.precision) + " roundingMode=" + roundingNames[m.mode])
}

// divideRounded is a / b as a whole number.
func divideRounded(t *thread, a, b *big.Int, mode rounding) *big.Int {
	work(t, a, b)
	t.alloc(a.BitLen() / 4)
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Sign() == 0 {
		return q
	}
	sign := int64(a.Sign() * b.Sign())
	half := new(big.Int).Lsh(r, 1).CmpAbs(b)
	away := false
	switch mode {
	case roundUnnecessary:
		throw(classArithmeticException, "Rounding necessary")
	case roundUp:
		away = true
	case roundCeiling:
		away = sign > 0
	case roundFloor:
		away = sign < 0
	case roundHalfUpMode:
		away = half >= 0
	case roundHalfDown:
		away = half > 0
	case roundHalfEven:
		away = half > 0 || half == 0 && q.Bit(0) == 1
	}
	if away {
		q.Add(q, big.NewInt(sign))
	}
	return q
}

func (d *bigDecimal) setScale(t *thread, scale int64, mode rounding) *bigDecimal {
	by := scale - int64(d.scale)
	if by >= 0 {
		return t.bigDecimal(scaleUp(t, d.unscaled, by), scale)
	}
	return t.bigDecimal(divideRounded(t, d.unscaled, tenTo(t, -by), mode), scale)
}

// round rounds to a number of digits.
func (d *bigDecimal) round(t *thread, c *mathContext) *bigDecimal {
	for c.precision > 0 {
		drop := precision(t, d.unscaled) - c.precision
		if drop <= 0 {
			break
		}
		d = t.bigDecimal(divideRounded(t, d.unscaled, tenTo(t, int64(drop)), c.mode), int64(d.scale)-int64(drop))
	}
	return d
}

// strip takes zeros off the end while the scale is larger than least.
func (d *bigDecimal) strip(t *thread, least int64) *bigDecimal {
	v, scale := d.unscaled, int64(d.scale)
	ten, r := big.NewInt(10), new(big.Int)
	t.alloc(v.BitLen() / 4)
	for q, other := new(big.Int), new(big.Int); scale > least && v.Sign() != 0; q, other = other, q {
		t.charge(words(v))
		if q.QuoRem(v, ten, r); r.Sign() != 0 {
			break
		}
		v, scale = q, scale-1
	}
	return t.bigDecimal(v, scale)
}

func (d *bigDecimal) checkDivisor(by *bigDecimal) {
	if by.unscaled.Sign() == 0 {
		if d.unscaled.Sign() == 0 {
			throw(classArithmeticException, "Division undefined")
		}
		throw(classArithmeticException, "Division by zero")
	}
}

// divideScale is the quotient with that scale.
func (d *bigDecimal) divideScale(t *thread, by *bigDecimal, scale int64, mode rounding) *bigDecimal {
	a, b := d.unscaled, by.unscaled
	if up := scale + int64(by.scale) - int64(d.scale); up >= 0 {
		a = scaleUp(t, a, up)
	} else {
		b = scaleUp(t, b, -up)
	}
	if b.Sign() == 0 {
		if a.IsInt64() { // Java divides with numbers of 64 bits if it can
			divideByZero()
		}
		throw(classArithmeticException, "BigInteger divide by zero")
	}
	return t.bigDecimal(divideRounded(t, a, b, mode), scale)
}

func clampScale(scale int64) int64 { return max(math.MinInt32, min(math.MaxInt32, scale)) }

// divideExact is the quotient with as many digits as it has.
func (d *bigDecimal) divideExact(t *thread, by *bigDecimal) *bigDecimal {
	d.checkDivisor(by)
	preferred := int64(d.scale) - int64(by.scale)
	if d.unscaled.Sign() == 0 {
		return t.bigDecimal(new(big.Int), clampScale(preferred))
	}
	work(t, d.unscaled, by.unscaled)
	rest := new(big.Int).Abs(by.unscaled)
	rest.Quo(rest, new(big.Int).GCD(nil, nil, new(big.Int).Abs(d.unscaled), rest))
	twos := int64(rest.TrailingZeroBits())
	rest.Rsh(rest, uint(twos))
	fives := int64(0)
	for five, r, q := big.NewInt(5), new(big.Int), new(big.Int); ; fives++ {
		t.charge(words(rest))
		if q.QuoRem(rest, five, r); r.Sign() != 0 {
			break
		}
		rest.Set(q)
	}
	if rest.Cmp(big.NewInt(1)) != 0 {
		throw(classArithmeticException, "Non-terminating decimal expansion; no exact representable decimal result.")
	}
	up := max(twos, fives)
	return t.bigDecimal(divideRounded(t, scaleUp(t, d.unscaled, up), by.unscaled, roundUnnecessary), preferred+up)
}

// divideContext is the quotient with that many digits.
func (d *bigDecimal) divideContext(t *thread, by *bigDecimal, c *mathContext) *bigDecimal {
	if c.precision == 0 {
		return d.divideExact(t, by)
	}
	d.checkDivisor(by)
	preferred := int64(d.scale) - int64(by.scale)
	if d.unscaled.Sign() == 0 {
		return t.bigDecimal(new(big.Int), clampScale(preferred))
	}
	up := int64(c.precision) - int64(precision(t, d.unscaled)) + int64(precision(t, by.unscaled))
	for {
		a, b := d.unscaled, by.unscaled
		if up >= 0 {
			a = scaleUp(t, a, up)
		} else {
			b = scaleUp(t, b, -up)
		}
		work(t, a, b)
		q, r := new(big.Int).QuoRem(a, b, new(big.Int))
		if precision(t, q) > c.precision {
			up--
			continue
		}
		q = divideRounded(t, a, b, c.mode)
		result := t.bigDecimal(q, preferred+up)
		if r.Sign() == 0 {
			return result.strip(t, preferred)
		}
		return result.round(t, c)
	}
}

// divideWhole is the whole part of the quotient.
func (d *bigDecimal) divideWhole(t *thread, by *bigDecimal) *bigDecimal {
	d.checkDivisor(by)
	preferred := clampScale(int64(d.scale) - int64(by.scale))
	a, b, _ := align(t, d, by)
	work(t, a, b)
	q := new(big.Int).Quo(a, b)
	if q.Sign() == 0 {
		return t.bigDecimal(q, preferred)
	}
	whole := t.bigDecimal(q, 0)
	if preferred >= 0 {
		return whole.setScale(t, preferred, roundUnnecessary)
	}
	return whole.strip(t, preferred)
}

func (d *bigDecimal) add(t *thread, o *bigDecimal) *bigDecimal {
	a, b, scale := align(t, d, o)
	return t.bigDecimal(new(big.Int).Add(a, b), scale)
}

func (d *bigDecimal) subtract(t *thread, o *bigDecimal) *bigDecimal {
	a, b, scale := align(t, d, o)
	return t.bigDecimal(new(big.Int).Sub(a, b), scale)
}

func (d *bigDecimal) multiply(t *thread, o *bigDecimal) *bigDecimal {
	checkBits(int64(d.unscaled.BitLen() + o.unscaled.BitLen() - 1))
	work(t, d.unscaled, o.unscaled)
	return t.bigDecimal(new(big.Int).Mul(d.unscaled, o.unscaled), int64(d.scale)+int64(o.scale))
}

// checkTextOfNumber charges for the conversion of a text to a number, and refuses one that is too long.
func checkTextOfNumber(t *thread, text string) {
	checkBits(int64(len(text)-32) * maxBits / maxDigits) // without a sign, a point and an exponent
	t.charge(len(text) * len(text) / (16 * 16 * sizePerStep))
}

// parseDecimal is new BigDecimal(String).
func parseDecimal(t *thread, text string) *bigDecimal {
	checkTextOfNumber(t, text)
	mantissa, exponent := text, "0"
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
	}
	digits := mantissa
	scale := int64(0)
	if i := strings.IndexByte(mantissa, '.'); i >= 0 {
		digits = mantissa[:i] + mantissa[i+1:]
		scale = int64(len(mantissa) - i - 1)
	}
	if strings.Count(mantissa, ".") > 1 {
		throw(classNumberFormat, "Character array contains more than one decimal point.")
	}
	unsigned := strings.TrimPrefix(strings.TrimPrefix(digits, "+"), "-")
	for _, c := range unsigned {
		if c < '0' || c > '9' {
			units := utf16.Encode([]rune(strings.TrimLeft(text[:1], "+-") + text[1:]))
			if len(units) > 18 { // Java reads short numbers in another way
				throw(classNumberFormat, "Character array is missing \"e\" notation exponential mark.")
			}
			first := utf16.AppendRune(nil, c)[:1]
			throw(classNumberFormat, "Character "+goText(first)+
				" is neither a decimal digit number, decimal point, nor \"e\" notation exponential mark.")
		}
	}
	v, ok := new(big.Int).SetString(digits, 10)
	e, err := strconv.ParseInt(exponent, 10, 64)
	switch {
	case text == "":
		throwPlain(classNumberFormat)
	case unsigned == "" || !ok:
		throw(classNumberFormat, "No digits found.")
	case len(strings.TrimLeft(exponent, "+-0")) > 10 && err == nil:
		throw(classNumberFormat, "Too many nonzero exponent digits.")
	case strings.TrimLeft(exponent, "+-") == "":
		throwPlain(classNumberFormat)
	case err != nil:
		throw(classNumberFormat, "Not a digit.")
	}
	if scale -= e; scale != int64(int32(scale)) {
		throw(classNumberFormat, "Scale out of range.")
	}
	return t.bigDecimal(v, scale)
}

// exactDecimal is new BigDecimal(double): all digits of the binary number.
func exactDecimal(t *thread, f float64) *bigDecimal {
	if f-f != 0 {
		throw(classNumberFormat, "Infinite or NaN")
	}
	if f == 0 {
		return t.bigDecimal(new(big.Int), 0)
	}
	fraction, exponent := math.Frexp(f)
	m := int64(math.Ldexp(fraction, 53))
	exponent -= 53
	for m%2 == 0 {
		m /= 2
		exponent++
	}
	v := big.NewInt(m)
	if exponent >= 0 {
		return t.bigDecimal(v.Lsh(v, uint(exponent)), 0)
	}
	return t.bigDecimal(v.Mul(v, new(big.Int).Exp(big.NewInt(5), big.NewInt(int64(-exponent)), nil)), int64(-exponent))
}
