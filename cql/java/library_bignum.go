package java

import (
	"math"
	"math/big"

	"github.com/cqld/cqld/cql/types"
)

func integerMethods() []native {
	two := func(f func(z, x, y *big.Int) *big.Int) any {
		return on(func(t *thread, b *bigInteger, a []value) value {
			o := to[*bigInteger](a[0])
			work(t, b.v.BitLen(), o.v.BitLen())
			return reference(t.bigInteger(f(new(big.Int), b.v, o.v)))
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
			makeRoom(t, int64(v.BitLen())+int64(n))
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
		work(t, len(text)*4, len(text)*4)
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
		{"BigInteger(String)", func(t *thread, a []value) value { return fromText(t, a[0].str(), 10) }},
		{"BigInteger(String, int)", func(t *thread, a []value) value {
			if a[1].n < 2 || a[1].n > 36 {
				throw(classNumberFormat, "Radix out of range")
			}
			return fromText(t, a[0].str(), a[1].int())
		}},
		{"BigInteger(byte[])", func(t *thread, a []value) value {
			b := to[*array](a[0]).bytes(t)
			if len(b) == 0 {
				throw(classNumberFormat, "Zero length BigInteger")
			}
			return reference(t.bigInteger(types.DecodeVarInt(b)))
		}},
		{"static BigInteger valueOf(long)", func(t *thread, a []value) value {
			return reference(t.bigInteger(big.NewInt(a[0].n)))
		}},
		{"BigInteger add(BigInteger)", two((*big.Int).Add)},
		{"BigInteger subtract(BigInteger)", two((*big.Int).Sub)},
		{"BigInteger multiply(BigInteger)", two((*big.Int).Mul)},
		{"BigInteger divide(BigInteger)", two(divisor((*big.Int).Quo))},
		{"BigInteger remainder(BigInteger)", two(divisor((*big.Int).Rem))},
		{"BigInteger mod(BigInteger)", two(func(z, x, y *big.Int) *big.Int {
			if y.Sign() <= 0 {
				throw(classArithmeticException, "BigInteger: modulus not positive")
			}
			return z.Mod(x, y)
		})},
		{"BigInteger[] divideAndRemainder(BigInteger)", on(func(t *thread, b *bigInteger, a []value) value {
			o := to[*bigInteger](a[0])
			if o.v.Sign() == 0 {
				throw(classArithmeticException, "BigInteger divide by zero")
			}
			work(t, b.v.BitLen(), o.v.BitLen())
			q, r := new(big.Int).QuoRem(b.v, o.v, new(big.Int))
			pair := t.newArray(classBigInteger.typ(), 2)
			pair.r[0], pair.r[1] = t.bigInteger(q), t.bigInteger(r)
			return reference(pair)
		})},
		{"BigInteger gcd(BigInteger)", two(func(z, x, y *big.Int) *big.Int {
			return z.GCD(nil, nil, new(big.Int).Abs(x), new(big.Int).Abs(y))
		})},
		{"BigInteger and(BigInteger)", two((*big.Int).And)},
		{"BigInteger or(BigInteger)", two((*big.Int).Or)},
		{"BigInteger xor(BigInteger)", two((*big.Int).Xor)},
		{"BigInteger min(BigInteger)", two(func(z, x, y *big.Int) *big.Int {
			if x.Cmp(y) <= 0 {
				return x
			}
			return y
		})},
		{"BigInteger max(BigInteger)", two(func(z, x, y *big.Int) *big.Int {
			if x.Cmp(y) >= 0 {
				return x
			}
			return y
		})},
		{"BigInteger negate()", one((*big.Int).Neg)},
		{"BigInteger abs()", one((*big.Int).Abs)},
		{"BigInteger not()", one((*big.Int).Not)},
		{"BigInteger sqrt()", on(func(t *thread, b *bigInteger, _ []value) value {
			if b.v.Sign() < 0 {
				throw(classArithmeticException, "Negative BigInteger")
			}
			work(t, b.v.BitLen(), b.v.BitLen()*8)
			return reference(t.bigInteger(new(big.Int).Sqrt(b.v)))
		})},
		{"BigInteger pow(int)", on(func(t *thread, b *bigInteger, a []value) value {
			n := a[0].n
			if n < 0 {
				throw(classArithmeticException, "Negative exponent")
			}
			bits := int64(max(b.v.BitLen()-1, 0)) * n
			if b.v.BitLen() > 1 {
				makeRoom(t, bits)
				work(t, int(bits), int(bits))
			}
			return reference(t.bigInteger(new(big.Int).Exp(b.v, big.NewInt(n), nil)))
		})},
		{"BigInteger modPow(BigInteger, BigInteger)", on(func(t *thread, b *bigInteger, a []value) value {
			e, m := to[*bigInteger](a[0]).v, to[*bigInteger](a[1]).v
			if m.Sign() <= 0 {
				throw(classArithmeticException, "BigInteger: modulus not positive")
			}
			if e.Sign() < 0 && new(big.Int).GCD(nil, nil, new(big.Int).Mod(b.v, m), m).Cmp(big.NewInt(1)) != 0 {
				throw(classArithmeticException, "BigInteger not invertible.")
			}
			for range e.BitLen()/16 + 1 {
				work(t, m.BitLen()*16, m.BitLen())
			}
			return reference(t.bigInteger(new(big.Int).Exp(b.v, e, m)))
		})},
		{"BigInteger shiftLeft(int)", on(func(t *thread, b *bigInteger, a []value) value {
			return shift(t, b.v, a[0].int())
		})},
		{"BigInteger shiftRight(int)", on(func(t *thread, b *bigInteger, a []value) value {
			return shift(t, b.v, -a[0].int())
		})},
		{"boolean testBit(int)", on(func(_ *thread, b *bigInteger, a []value) value {
			if a[0].n < 0 {
				throw(classArithmeticException, "Negative bit address")
			}
			return number(int64(b.v.Bit(a[0].int())))
		})},
		{"int bitLength()", on(func(_ *thread, b *bigInteger, _ []value) value {
			if b.v.Sign() < 0 {
				return integer(new(big.Int).Not(b.v).BitLen())
			}
			return integer(b.v.BitLen())
		})},
		{"int signum()", on(func(_ *thread, b *bigInteger, _ []value) value { return integer(b.v.Sign()) })},
		{"String toString(int)", on(func(t *thread, b *bigInteger, a []value) value {
			radix := a[0].int()
			if radix < 2 || radix > 36 {
				radix = 10
			}
			return reference(t.ascii(bigText(t, b.v, radix)))
		})},
		{"byte[] toByteArray()", on(func(t *thread, b *bigInteger, _ []value) value {
			return reference(t.byteArray(types.EncodeVarInt(b.v)))
		})},
		{"int intValueExact()", exact(32, "int")},
		{"long longValueExact()", exact(64, "long")},
		{"boolean isProbablePrime(int)", on(func(t *thread, b *bigInteger, _ []value) value {
			for range 32 {
				work(t, b.v.BitLen()*16, b.v.BitLen()*4)
			}
			return boolean(new(big.Int).Abs(b.v).ProbablyPrime(20))
		})},
	}
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
			{"String name()", on(func(t *thread, m *roundingMode, _ []value) value { return reference(m.text(t)) })},
			{"int ordinal()", on(func(_ *thread, m *roundingMode, _ []value) value { return integer(int(m.mode)) })},
		}, modes},
		{classMathContext, "final class java.math.MathContext", []native{
			{"MathContext(int)", func(_ *thread, a []value) value { return newMathContext(a[0].int(), roundHalfUpMode) }},
			{"MathContext(int, RoundingMode)", func(_ *thread, a []value) value {
				return newMathContext(a[0].int(), to[*roundingMode](a[1]).mode)
			}},
			{"int getPrecision()", on(func(_ *thread, m *mathContext, _ []value) value { return integer(m.precision) })},
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
		{"BigDecimal(String)", func(t *thread, a []value) value { return reference(parseDecimal(t, a[0].str().String())) }},
		{"BigDecimal(String, MathContext)", func(t *thread, a []value) value {
			return reference(parseDecimal(t, a[0].str().String()).round(t, to[*mathContext](a[1])))
		}},
		{"BigDecimal(int)", func(t *thread, a []value) value { return reference(t.bigDecimal(big.NewInt(a[0].n), 0)) }},
		{"BigDecimal(long)", func(t *thread, a []value) value { return reference(t.bigDecimal(big.NewInt(a[0].n), 0)) }},
		{"BigDecimal(double)", func(t *thread, a []value) value { return reference(exactDecimal(t, a[0].floating())) }},
		{"BigDecimal(double, MathContext)", func(t *thread, a []value) value {
			return reference(exactDecimal(t, a[0].floating()).round(t, to[*mathContext](a[1])))
		}},
		{"BigDecimal(BigInteger)", func(t *thread, a []value) value {
			return reference(t.bigDecimal(to[*bigInteger](a[0]).v, 0))
		}},
		{"BigDecimal(BigInteger, int)", func(t *thread, a []value) value {
			return reference(t.bigDecimal(to[*bigInteger](a[0]).v, a[1].n))
		}},
		{"static BigDecimal valueOf(long)", func(t *thread, a []value) value {
			return reference(t.bigDecimal(big.NewInt(a[0].n), 0))
		}},
		{"static BigDecimal valueOf(long, int)", func(t *thread, a []value) value {
			return reference(t.bigDecimal(big.NewInt(a[0].n), a[1].n))
		}},
		{"static BigDecimal valueOf(double)", func(t *thread, a []value) value {
			f := a[0].floating()
			if f-f != 0 {
				parseDecimal(t, doubleText(f))
			}
			return reference(parseDecimal(t, doubleText(f)))
		}},
		{"BigDecimal add(BigDecimal)", two((*bigDecimal).add)},
		{"BigDecimal add(BigDecimal, MathContext)", twoContext((*bigDecimal).add)},
		{"BigDecimal subtract(BigDecimal)", two((*bigDecimal).subtract)},
		{"BigDecimal subtract(BigDecimal, MathContext)", twoContext((*bigDecimal).subtract)},
		{"BigDecimal multiply(BigDecimal)", two((*bigDecimal).multiply)},
		{"BigDecimal multiply(BigDecimal, MathContext)", twoContext((*bigDecimal).multiply)},
		{"BigDecimal divide(BigDecimal)", two((*bigDecimal).divideExact)},
		{"BigDecimal divide(BigDecimal, MathContext)", with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return d.divideContext(t, to[*bigDecimal](a[0]), to[*mathContext](a[1]))
		})},
		{"BigDecimal divide(BigDecimal, RoundingMode)", with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return d.divideScale(t, to[*bigDecimal](a[0]), int64(d.scale), to[*roundingMode](a[1]).mode)
		})},
		{"BigDecimal divide(BigDecimal, int)", with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return d.divideScale(t, to[*bigDecimal](a[0]), int64(d.scale), modeOf(a[1]))
		})},
		{"BigDecimal divide(BigDecimal, int, RoundingMode)", with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return d.divideScale(t, to[*bigDecimal](a[0]), a[1].n, to[*roundingMode](a[2]).mode)
		})},
		{"BigDecimal divide(BigDecimal, int, int)", with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return d.divideScale(t, to[*bigDecimal](a[0]), a[1].n, modeOf(a[2]))
		})},
		{"BigDecimal divideToIntegralValue(BigDecimal)", two((*bigDecimal).divideWhole)},
		{"BigDecimal remainder(BigDecimal)", two(remainder)},
		{"BigDecimal[] divideAndRemainder(BigDecimal)", on(func(t *thread, d *bigDecimal, a []value) value {
			o := to[*bigDecimal](a[0])
			pair := t.newArray(classBigDecimal.typ(), 2)
			pair.r[0], pair.r[1] = d.divideWhole(t, o), remainder(d, t, o)
			return reference(pair)
		})},
		{"BigDecimal pow(int)", with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			n := a[0].n
			if n < 0 || n > 999999999 {
				throw(classArithmeticException, "Invalid operation")
			}
			if d.unscaled.BitLen() > 1 {
				bits := int64(d.unscaled.BitLen()) * n
				makeRoom(t, bits)
				work(t, int(bits), int(bits))
			}
			return t.bigDecimal(new(big.Int).Exp(d.unscaled, big.NewInt(n), nil), int64(d.scale)*n)
		})},
		{"BigDecimal negate()", with(func(t *thread, d *bigDecimal, _ []value) *bigDecimal {
			return t.bigDecimal(new(big.Int).Neg(d.unscaled), int64(d.scale))
		})},
		{"BigDecimal abs()", with(func(t *thread, d *bigDecimal, _ []value) *bigDecimal {
			return t.bigDecimal(new(big.Int).Abs(d.unscaled), int64(d.scale))
		})},
		{"BigDecimal plus()", with(func(_ *thread, d *bigDecimal, _ []value) *bigDecimal { return d })},
		{"BigDecimal min(BigDecimal)", with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			if o := to[*bigDecimal](a[0]); d.compare(t, o) > 0 {
				return o
			}
			return d
		})},
		{"BigDecimal max(BigDecimal)", with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			if o := to[*bigDecimal](a[0]); d.compare(t, o) < 0 {
				return o
			}
			return d
		})},
		{"BigDecimal setScale(int)", with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return d.setScale(t, a[0].n, roundUnnecessary)
		})},
		{"BigDecimal setScale(int, RoundingMode)", with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return d.setScale(t, a[0].n, to[*roundingMode](a[1]).mode)
		})},
		{"BigDecimal setScale(int, int)", with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return d.setScale(t, a[0].n, modeOf(a[1]))
		})},
		{"BigDecimal round(MathContext)", with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return d.round(t, to[*mathContext](a[0]))
		})},
		{"BigDecimal movePointLeft(int)", move(1)},
		{"BigDecimal movePointRight(int)", move(-1)},
		{"BigDecimal scaleByPowerOfTen(int)", with(func(t *thread, d *bigDecimal, a []value) *bigDecimal {
			return t.bigDecimal(d.unscaled, int64(d.scale)-a[0].n)
		})},
		{"BigDecimal stripTrailingZeros()", with(func(t *thread, d *bigDecimal, _ []value) *bigDecimal {
			if d.unscaled.Sign() == 0 {
				return t.bigDecimal(d.unscaled, 0)
			}
			return d.strip(t, math.MinInt32)
		})},
		{"int scale()", on(func(_ *thread, d *bigDecimal, _ []value) value { return number(int64(d.scale)) })},
		{"int precision()", on(func(t *thread, d *bigDecimal, _ []value) value { return integer(precision(t, d.unscaled)) })},
		{"int signum()", on(func(_ *thread, d *bigDecimal, _ []value) value { return integer(d.unscaled.Sign()) })},
		{"BigInteger unscaledValue()", on(func(t *thread, d *bigDecimal, _ []value) value {
			return reference(t.bigInteger(d.unscaled))
		})},
		{"BigInteger toBigInteger()", on(func(t *thread, d *bigDecimal, _ []value) value {
			return reference(t.bigInteger(d.whole(t)))
		})},
		{"BigInteger toBigIntegerExact()", on(func(t *thread, d *bigDecimal, _ []value) value {
			return reference(t.bigInteger(d.setScale(t, 0, roundUnnecessary).unscaled))
		})},
		{"String toPlainString()", on(func(t *thread, d *bigDecimal, _ []value) value {
			return reference(t.ascii(d.plainText(t)))
		})},
		{"int intValueExact()", exact(32)},
		{"long longValueExact()", exact(64)},
	}
}
