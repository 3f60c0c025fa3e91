package javafloat

import "math"

// Java's logarithms and powers are the nearest double but for a few arguments in a hundred. Go's math.Log10 and
// math.Pow are another double more often, so these have twice the digits too.

// The natural logarithms of 2 and 10, in parts.
var (
	logTwo = []float64{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 0x1.7b57a079a1934p-111}
	logTen = double2{0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53}
)

// minNormal is the smallest positive double with all digits.
const minNormal = 0x1p-1022

// powerOfE is e to the power of x, divided by 2 to the power of n.
func powerOfE(x double2) (y double2, n int) {
	k := math.RoundToEven(x.hi / math.Ln2)
	for _, part := range logTwo {
		x = x.add(productOf(-k, part))
	}
	y = double2{hi: 1}
	for i := 30.0; i > 0; i-- { // 1 + x/1 * (1 + x/2 * (1 + ...))
		y = x.times(y).over(double2{hi: i}).add(double2{hi: 1})
	}
	return y, int(k)
}

// log is the natural logarithm of a positive number.
func log(x float64) double2 {
	fraction, exponent := math.Frexp(x)
	if fraction < math.Sqrt2/2 {
		fraction, exponent = 2*fraction, exponent-1
	}
	near := math.Log(fraction)
	e, n := powerOfE(double2{hi: -near})
	e = e.times(double2{hi: math.Ldexp(fraction, n)})
	rest := e.add(double2{hi: -1}) // fraction is e to the power of near, times 1 + rest
	y := double2{hi: near}.add(rest).add(double2{hi: -rest.hi * rest.hi / 2})
	for _, part := range logTwo {
		y = y.add(productOf(float64(exponent), part))
	}
	return y
}

// isFinitePositive reports whether x has a logarithm.
func isFinitePositive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

// Log is the natural logarithm.
func Log(x float64) float64 {
	if y := math.Log(x); !isFinitePositive(x) || math.Abs(y) < 1e-9 {
		return y
	}
	return log(x).hi
}

// Log10 is the decimal logarithm.
func Log10(x float64) float64 {
	if y := math.Log10(x); !isFinitePositive(x) || math.Abs(y) < 1e-9 {
		return y
	}
	return log(x).over(logTen).hi
}

// Exp is e to the power of x. On amd64, Go's math.Exp is infinite from 709.44 on, Java's from 709.78 on.
func Exp(x float64) float64 {
	if !(math.Abs(x) < 1000) {
		return math.Exp(x)
	}
	y, n := powerOfE(double2{hi: x})
	return math.Ldexp(y.hi, n)
}

// Pow is Java's Math.pow, which differs from C's: 1 to the power of NaN, and -1 to that of infinity, are NaN.
func Pow(a, b float64) float64 {
	if b != b || math.Abs(a) == 1 && math.IsInf(b, 0) {
		return math.NaN()
	}
	near := math.Pow(a, b)
	if b == 0 || math.Abs(near) < minNormal || math.IsInf(near, 0) || near != near {
		return near
	}
	y, n := powerOfE(log(math.Abs(a)).times(double2{hi: b}))
	return math.Copysign(math.Ldexp(y.hi, n), near)
}
