package java

import (
	"math"
	"math/big"
	"strconv"

	"github.com/cqld/cqld/cql/types"
)

func integerMethods() []native {
	two := func(f func(z, x, y *big.Int) *big.Int) any {
		return on(func(t *thread, b *bigInteger, a []value) value {
			return reference(t.bigInteger(f(new(big.Int), b.v, to[*bigInteger](a[0]).v)))
		})
	}
	one := func(f func(z, x *big.Int) *big.Int) any {
		return on(func(t *thread, b *bigInteger, _ []value) value { return reference(t.bigInteger(f(new(big.Int), b.v))) })
	}
	divisor := func(f func(z, x, y *big.Int) *big.Int) func(z, x, y *big.Int) *big.Int {
		return func(z, x, y *big.Int) *big.Int {
			if y.Sign() == 0 {
				throw(classArithmeticException, "BigInteger divide by zero")
			}
			return f(z, x, y)
		}
	}
	shift := func(t *thread, v *big.Int, n int) value {
		if n >= 0 {
			checkBits(int64(v.BitLen()) + int64(n))
			t.grow(n/8, 1)
			return reference(t.bigInteger(new(big.Int).Lsh(v, uint(n))))
		}
		return reference(t.bigInteger(new(big.Int).Rsh(v, uint(-int64(n)))))
	}
	exact := func(size uint, name string) any {
		return on(func(_ *thread, b *bigInteger, _ []value) value {
			if !b.v.IsInt64() || b.v.Int64()<<(64-size)>>(64-size) != b.v.Int64() {
				throw(classArithmeticException, "BigInteger out of "+name+" range")
			}
			return number(b.v.Int64())
		})
	}
	fromText := func(t *thread, s *str, radix int) value {
		text := s.String()
		checkTextOfNumber(t, text)
		if text == "" {
			throw(classNumberFormat, "Zero length BigInteger")
		}
		v, ok := new(big.Int).SetString(text, radix)
		if !ok {
			throw(classNumberFormat, "For input string: \""+text+"\"")
		}
		return reference(t.bigInteger(v))
	}
	return []native{
		{"BigInteger(String)", product, func(t *thread, a []value) value { return fromText(t, a[0].str(), 10) }},
		{"BigInteger(String, int)", product, func(t *thread, a []value) value {
			if a[1].n < 2 || a[1].n > 36 {
				throw(classNumberFormat, "Radix out of range")
			}
			return fromText(t, a[0].str(), a[1].int())
		}},
		{"BigInteger(byte[])", linear, func(t *thread, a []value) value {
			b := to[*array](a[0]).bytes(t)
			if len(b) == 0 {
				throw(classNumberFormat, "Zero length BigInteger")
			}
			return reference(t.bigInteger(types.DecodeVarInt(b)))
		}},
		{"static BigInteger valueOf(long)", fixed, func(t *thread, a []value) value {
			return reference(t.bigInteger(big.NewInt(a[0].n)))
		}},
		{"BigInteger add(BigInteger)", linear, two((*big.Int).Add)},
		{"BigInteger subtract(BigInteger)", linear, two((*big.Int).Sub)},
		{"BigInteger multiply(BigInteger)", product, two(func(z, x, y *big.Int) *big.Int {
			checkBits(int64(x.BitLen() + y.BitLen() - 1))
			return z.Mul(x, y)
		})},
		{"BigInteger divide(BigInteger)", product, two(divisor((*big.Int).Quo))},
		{"BigInteger remainder(BigInteger)", product, two(divisor((*big.Int).Rem))},
		{"BigInteger mod(BigInteger)", product, two(func(z, x, y *big.Int) *big.Int {
			if y.Sign() <= 0 {
				throw(classArithmeticException, "BigInteger: modulus not positive")
			}
			return z.Mod(x, y)
		})},
		{"BigInteger[] divideAndRemainder(BigInteger)", product, on(func(t *thread, b *bigInteger, a []value) value {
			o := to[*bigInteger](a[0])
			if o.v.Sign() == 0 {
				throw(classArithmeticException, "BigInteger divide by zero")
			}
			q, r := new(big.Int).QuoRem(b.v, o.v, new(big.Int))
			pair := t.newArray(classBigInteger.typ(), 2)
			pair.r[0], pair.r[1] = t.bigInteger(q), t.bigInteger(r)
			return reference(pair)
		})},
		{"BigInteger gcd(BigInteger)", product, two(func(z, x, y *big.Int) *big.Int {
			return z.GCD(nil, nil, new(big.Int).Abs(x), new(big.Int).Abs(y))
		})},
		{"BigInteger and(BigInteger)", linear, two((*big.Int).And)},
		{"BigInteger or(BigInteger)", linear, two((*big.Int).Or)},
		{"BigInteger xor(BigInteger)", linear, two((*big.Int).Xor)},
		{"BigInteger min(BigInteger)", linear, two(func(z, x, y *big.Int) *big.Int {
			if x.Cmp(y) <= 0 {
				return x
			}
			return y
		})},
		{"BigInteger max(BigInteger)", linear, two(func(z, x, y *big.Int) *big.Int {
			if x.Cmp(y) >= 0 {
				return x
			}
			return y
		})},
		{"BigInteger negate()", linear, one((*big.Int).Neg)},
		{"BigInteger abs()", linear, one((*big.Int).Abs)},
		{"BigInteger not()", linear, one((*big.Int).Not)},
		{"BigInteger sqrt()", product, on(func(t *thread, b *bigInteger, _ []value) value {
			if b.v.Sign() < 0 {
				throw(classArithmeticException, "Negative BigInteger")
			}
			return reference(t.bigInteger(new(big.Int).Sqrt(b.v)))
		})},
		{"BigInteger pow(int)", product, on(func(t *thread, b *bigInteger, a []value) value {
			n := a[0].n
			if n < 0 {
				throw(classArithmeticException, "Negative exponent")
			}
			chargePower(t, b.v, n)
			return reference(t.bigInteger(new(big.Int).Exp(b.v, big.NewInt(n), nil)))
		})},
		{"BigInteger modPow(BigInteger, BigInteger)", product, on(func(t *thread, b *bigInteger, a []value) value {
			e, m := to[*bigInteger](a[0]).v, to[*bigInteger](a[1]).v
			if m.Sign() <= 0 {
				throw(classArithmeticException, "BigInteger: modulus not positive")
			}
			base := new(big.Int).Mod(b.v, m)
			if e.Sign() < 0 {
				if base = base.ModInverse(base, m); base == nil {
					throw(classArithmeticException, "BigInteger not invertible.")
				}
			}
			return reference(t.bigInteger(modPow(t, base, new(big.Int).Abs(e), m)))
		})},
		{"BigInteger shiftLeft(int)", linear, on(func(t *thread, b *bigInteger, a []value) value {
			return shift(t, b.v, a[0].int())
		})},
		{"BigInteger shiftRight(int)", linear, on(func(t *thread, b *bigInteger, a []value) value {
			return shift(t, b.v, -a[0].int())
		})},
		{"boolean testBit(int)", fixed, on(func(_ *thread, b *bigInteger, a []value) value {
			if a[0].n < 0 {
				throw(classArithmeticException, "Negative bit address")
			}
			return number(int64(b.v.Bit(a[0].int())))
		})},
		{"int bitLength()", linear, on(func(_ *thread, b *bigInteger, _ []value) value {
			if b.v.Sign() < 0 {
				return integer(new(big.Int).Not(b.v).BitLen())
			}
			return integer(b.v.BitLen())
		})},
		{"int signum()", fixed, on(func(_ *thread, b *bigInteger, _ []value) value { return integer(b.v.Sign()) })},
		{"String toString(int)", asItGoes, on(func(t *thread, b *bigInteger, a []value) value {
			radix := a[0].int()
			if radix < 2 || radix > 36 {
				radix = 10
			}
			return reference(t.ascii(bigText(t, b.v, radix)))
		})},
		{"byte[] toByteArray()", linear, on(func(t *thread, b *bigInteger, _ []value) value {
			return reference(t.byteArray(types.EncodeVarInt(b.v)))
		})},
		{"int intValueExact()", linear, exact(32, "int")},
		{"long longValueExact()", linear, exact(64, "long")},
		{"boolean isProbablePrime(int)", product, on(func(t *thread, b *bigInteger, _ []value) value {
			bits := b.v.BitLen()
			if bits > maxPrimeBits {
				throw(classArithmeticException, "numbers of more than "+strconv.Itoa(maxPrimeBits)+
					" bits are not tested by cqld whether they are prime")
			}
			t.charge(words(b.v) * words(b.v) * bits)
			return boolean(new(big.Int).Abs(b.v).ProbablyPrime(max(1, 20-bits/100)))
		})},
	}
}

// maxPrimeBits bounds the numbers of isProbablePrime, which cannot be interrupted.
const maxPrimeBits = 4096

// chargePower charges for v^n.
func chargePower(t *thread, v *big.Int, n int64) {
	if v.BitLen() <= 1 {
		return
	}
	checkBits(n)
	bits := int64(v.BitLen()-1) * n
	checkBits(bits)
	size := int(bits/64 + 1)
	t.grow(size, 16)
	t.charge(size * size / (2 * sizePerStep))
}

// bignumClasses are the classes of java.math.
func bignumClasses() []declaration {
	modes := make([]constant, len(roundingModes))
	for i, m := range roundingModes {
		modes[i] = constant{"RoundingMode " + roundingNames[i], m}
	}
	return []declaration{
		{
			classBigInteger, "class java.math.BigInteger extends Number implements Comparable<BigInteger>", integerMethods(),
			[]constant{
				{"BigInteger ZERO", &bigInteger{big.NewInt(0)}},
				{"BigInteger ONE", &bigInteger{big.NewInt(1)}},
				{"BigInteger TWO", &bigInteger{big.NewInt(2)}},
				{"BigInteger TEN", &bigInteger{big.NewInt(10)}},
			},
		},
		{
			classBigDecimal, "class java.math.BigDecimal extends Number implements Comparable<BigDecimal>", decimalMethods(),
			decimalConstants(),
		},
		{classRoundingMode, "final class java.math.RoundingMode", []native{
			{"String name()", fixed, on(func(t *thread, m *roundingMode, _ []value) value { return reference(m.text(t)) })},
			{"int ordinal()", fixed, on(func(_ *thread, m *roundingMode, _ []value) value { return integer(int(m.mode)) })},
		}, modes},
		{classMathContext, "final class java.math.MathContext", []native{
			{"MathContext(int)", fixed, func(_ *thread, a []value) value { return newMathContext(a[0].int(), roundHalfUpMode) }},
			{"MathContext(int, RoundingMode)", fixed, func(_ *thread, a []value) value {
				return newMathContext(a[0].int(), to[*roundingMode](a[1]).mode)
			}},
			{"int getPrecision()", fixed, on(func(_ *thread, m *mathContext, _ []value) value { return integer(m.precision) })},
		}, []constant{
			{"MathContext UNLIMITED", &mathContext{0, roundHalfUpMode}},
			{"MathContext DECIMAL32", &mathContext{7, roundHalfEven}},
			{"MathContext DECIMAL64", &mathContext{16, roundHalfEven}},
			{"MathContext DECIMAL128", &mathContext{34, roundHalfEven}},
		}},
	}
}

func newMathContext(digits int, mode rounding) value {
	if digits < 0 {
		throw(classIllegalArgument, "Digits < 0")
	}
	return reference(&mathContext{digits, mode})
}

func decimalConstants() []constant {
	all := []constant{
		{"BigDecimal ZERO", &bigDecimal{big.NewInt(0), 0}},
		{"BigDecimal ONE", &bigDecimal{big.NewInt(1), 0}},
		{"BigDecimal TEN", &bigDecimal{big.NewInt(10), 0}},
	}
	for i, name := range roundingNames {
		all = append(all, constant{"int ROUND_" + name, int64(i)})
	}
	return all
}

// modeOf is a rounding of an int, as older methods take it.
func modeOf(v value) rounding {
	if v.n < 0 || v.n >= int64(len(roundingNames)) {
		throw(classIllegalArgument, "Invalid rounding mode")
	}
	return rounding(v.n)
}

func decimalMethods() []native {
	with := func(f func(t *thread, d *bigDecimal, a []value) *bigDecimal) any {
		return on(func(t *thread, d *bigDecimal, a []value) value { return reference(f(t, d, a)) })
	}
	two := func(f func(d *bigDecimal, t *thread, o *bigDecimal) *bigDecimal) any {
		return with(func(t *thread, d *bigDecimal, a []value) *bigDecimal { return f(d, t, to[*bigDecimal](a[0])) })
	}
	twoContext := func(f func(d *bigDecimal, t *thread, o *bigDecimal) *bigDecimal) any {
		return with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return f(d, t, to[*bigDecimal](a[0])).round(t, to[*mathContext](a[1]))
		})
	}
	remainder := func(d *bigDecimal, t *thread, o *bigDecimal) *bigDecimal {
		return d.subtract(t, d.divideWhole(t, o).multiply(t, o))
	}
	exact := func(size uint) any {
		return on(func(t *thread, d *bigDecimal, _ []value) value {
			w := d.setScale(t, 0, roundUnnecessary).unscaled
			if !w.IsInt64() || w.Int64()<<(64-size)>>(64-size) != w.Int64() {
				throw(classArithmeticException, "Overflow")
			}
			return number(w.Int64())
		})
	}
	move := func(sign int64) any {
		return with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			if a[0].n == 0 {
				return d
			}
			moved := t.bigDecimal(d.unscaled, int64(d.scale)+sign*a[0].n)
			if moved.scale < 0 {
				return moved.setScale(t, 0, roundUnnecessary)
			}
			return moved
		})
	}
	return []native{
		{"BigDecimal(String)", product, func(t *thread, a []value) value {
			return reference(parseDecimal(t, a[0].str().String()))
		}},
		{"BigDecimal(String, MathContext)", product, func(t *thread, a []value) value {
			return reference(parseDecimal(t, a[0].str().String()).round(t, to[*mathContext](a[1])))
		}},
		{"BigDecimal(int)", fixed, func(t *thread, a []value) value {
			return reference(t.bigDecimal(big.NewInt(a[0].n), 0))
		}},
		{"BigDecimal(long)", fixed, func(t *thread, a []value) value {
			return reference(t.bigDecimal(big.NewInt(a[0].n), 0))
		}},
		{"BigDecimal(double)", product, func(t *thread, a []value) value {
			return reference(exactDecimal(t, a[0].floating()))
		}},
		{"BigDecimal(double, MathContext)", product, func(t *thread, a []value) value {
			return reference(exactDecimal(t, a[0].floating()).round(t, to[*mathContext](a[1])))
		}},
		{"BigDecimal(BigInteger)", linear, func(t *thread, a []value) value {
			return reference(t.bigDecimal(to[*bigInteger](a[0]).v, 0))
		}},
		{"BigDecimal(BigInteger, int)", linear, func(t *thread, a []value) value {
			return reference(t.bigDecimal(to[*bigInteger](a[0]).v, a[1].n))
		}},
		{"static BigDecimal valueOf(long)", fixed, func(t *thread, a []value) value {
			return reference(t.bigDecimal(big.NewInt(a[0].n), 0))
		}},
		{"static BigDecimal valueOf(long, int)", fixed, func(t *thread, a []value) value {
			return reference(t.bigDecimal(big.NewInt(a[0].n), a[1].n))
		}},
		{"static BigDecimal valueOf(double)", product, func(t *thread, a []value) value {
			f := a[0].floating()
			if f-f != 0 {
				parseDecimal(t, doubleText(f))
			}
			return reference(parseDecimal(t, doubleText(f)))
		}},
		{"BigDecimal add(BigDecimal)", product, two((*bigDecimal).add)},
		{"BigDecimal add(BigDecimal, MathContext)", product, twoContext((*bigDecimal).add)},
		{"BigDecimal subtract(BigDecimal)", product, two((*bigDecimal).subtract)},
		{"BigDecimal subtract(BigDecimal, MathContext)", product, twoContext((*bigDecimal).subtract)},
		{"BigDecimal multiply(BigDecimal)", product, two((*bigDecimal).multiply)},
		{"BigDecimal multiply(BigDecimal, MathContext)", product, twoContext((*bigDecimal).multiply)},
		{"BigDecimal divide(BigDecimal)", product, two((*bigDecimal).divideExact)},
		{"BigDecimal divide(BigDecimal, MathContext)", product, with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return d.divideContext(t, to[*bigDecimal](a[0]), to[*mathContext](a[1]))
		})},
		{"BigDecimal divide(BigDecimal, RoundingMode)", product, with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return d.divideScale(t, to[*bigDecimal](a[0]), int64(d.scale), to[*roundingMode](a[1]).mode)
		})},
		{"BigDecimal divide(BigDecimal, int)", product, with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return d.divideScale(t, to[*bigDecimal](a[0]), int64(d.scale), modeOf(a[1]))
		})},
		{
			"BigDecimal divide(BigDecimal, int, RoundingMode)", product,
			with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
				return d.divideScale(t, to[*bigDecimal](a[0]), a[1].n, to[*roundingMode](a[2]).mode)
			}),
		},
		{"BigDecimal divide(BigDecimal, int, int)", product, with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return d.divideScale(t, to[*bigDecimal](a[0]), a[1].n, modeOf(a[2]))
		})},
		{"BigDecimal divideToIntegralValue(BigDecimal)", product, two((*bigDecimal).divideWhole)},
		{"BigDecimal remainder(BigDecimal)", product, two(remainder)},
		{"BigDecimal[] divideAndRemainder(BigDecimal)", product, on(func(t *thread, d *bigDecimal, a []value) value {
			o := to[*bigDecimal](a[0])
			pair := t.newArray(classBigDecimal.typ(), 2)
			pair.r[0], pair.r[1] = d.divideWhole(t, o), remainder(d, t, o)
			return reference(pair)
		})},
		{"BigDecimal pow(int)", product, with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			n := a[0].n
			if n < 0 || n > 999999999 {
				throw(classArithmeticException, "Invalid operation")
			}
			chargePower(t, d.unscaled, n)
			return t.bigDecimal(new(big.Int).Exp(d.unscaled, big.NewInt(n), nil), int64(d.scale)*n)
		})},
		{"BigDecimal negate()", linear, with(func(t *thread, d *bigDecimal, _ []value) *bigDecimal {
			return t.bigDecimal(new(big.Int).Neg(d.unscaled), int64(d.scale))
		})},
		{"BigDecimal abs()", linear, with(func(t *thread, d *bigDecimal, _ []value) *bigDecimal {
			return t.bigDecimal(new(big.Int).Abs(d.unscaled), int64(d.scale))
		})},
		{"BigDecimal plus()", fixed, with(func(_ *thread, d *bigDecimal, _ []value) *bigDecimal { return d })},
		{"BigDecimal min(BigDecimal)", product, with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			if o := to[*bigDecimal](a[0]); d.compare(t, o) > 0 {
				return o
			}
			return d
		})},
		{"BigDecimal max(BigDecimal)", product, with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			if o := to[*bigDecimal](a[0]); d.compare(t, o) < 0 {
				return o
			}
			return d
		})},
		{"BigDecimal setScale(int)", product, with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return d.setScale(t, a[0].n, roundUnnecessary)
		})},
		{"BigDecimal setScale(int, RoundingMode)", product, with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return d.setScale(t, a[0].n, to[*roundingMode](a[1]).mode)
		})},
		{"BigDecimal setScale(int, int)", product, with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return d.setScale(t, a[0].n, modeOf(a[1]))
		})},
		{"BigDecimal round(MathContext)", product, with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return d.round(t, to[*mathContext](a[0]))
		})},
		{"BigDecimal movePointLeft(int)", product, move(1)},
		{"BigDecimal movePointRight(int)", product, move(-1)},
		{"BigDecimal scaleByPowerOfTen(int)", linear, with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return t.bigDecimal(d.unscaled, int64(d.scale)-a[0].n)
		})},
		{"BigDecimal stripTrailingZeros()", product, with(func(t *thread, d *bigDecimal, _ []value) *bigDecimal {
			if d.unscaled.Sign() == 0 {
				return t.bigDecimal(d.unscaled, 0)
			}
			return d.strip(t, math.MinInt32)
		})},
		{"int scale()", fixed, on(func(_ *thread, d *bigDecimal, _ []value) value { return number(int64(d.scale)) })},
		{"int precision()", product, on(func(t *thread, d *bigDecimal, _ []value) value {
			return integer(precision(t, d.unscaled))
		})},
		{"int signum()", fixed, on(func(_ *thread, d *bigDecimal, _ []value) value { return integer(d.unscaled.Sign()) })},
		{"BigInteger unscaledValue()", linear, on(func(t *thread, d *bigDecimal, _ []value) value {
			return reference(t.bigInteger(d.unscaled))
		})},
		{"BigInteger toBigInteger()", product, on(func(t *thread, d *bigDecimal, _ []value) value {
			return reference(t.bigInteger(d.whole(t)))
		})},
		{"BigInteger toBigIntegerExact()", product, on(func(t *thread, d *bigDecimal, _ []value) value {
			return reference(t.bigInteger(d.setScale(t, 0, roundUnnecessary).unscaled))
		})},
		{"String toPlainString()", product, on(func(t *thread, d *bigDecimal, _ []value) value {
			return reference(t.ascii(d.plainText(t)))
		})},
		{"int intValueExact()", linear, exact(32)},
		{"long longValueExact()", linear, exact(64)},
	}
}
