package java

import (
	"math"
	"math/rand/v2"

	"github.com/cqld/cqld/cql/types/javafloat"
)

func mathConstants() []constant {
	return []constant{{"double PI", math.Pi}, {"double E", math.E}}
}

func mathMethods() []native {
	float := func(name string, f func(float64) float64) native {
		return native{"static double " + name + "(double)", fixed, f}
	}
	return []native{
		{"static int abs(int)", fixed, func(a int64) int64 { return int64(int32(max(a, -a))) }},
		{"static long abs(long)", fixed, func(a int64) int64 {
			if a < 0 {
				return -a
			}
			return a
		}},
		{"static float abs(float)", fixed, math.Abs},
		{"static double abs(double)", fixed, math.Abs},
		{"static int max(int, int)", fixed, func(a, b int64) int64 { return max(a, b) }},
		{"static long max(long, long)", fixed, func(a, b int64) int64 { return max(a, b) }},
		{"static float max(float, float)", fixed, func(a, b float64) float64 { return max(a, b) }},
		{"static double max(double, double)", fixed, func(a, b float64) float64 { return max(a, b) }},
		{"static int min(int, int)", fixed, func(a, b int64) int64 { return min(a, b) }},
		{"static long min(long, long)", fixed, func(a, b int64) int64 { return min(a, b) }},
		{"static float min(float, float)", fixed, func(a, b float64) float64 { return min(a, b) }},
		{"static double min(double, double)", fixed, func(a, b float64) float64 { return min(a, b) }},
		float("floor", math.Floor),
		float("ceil", math.Ceil),
		float("rint", math.RoundToEven),
		float("sqrt", math.Sqrt),
		float("cbrt", cubeRoot),
		float("exp", javafloat.Exp),
		float("expm1", math.Expm1),
		float("log", javafloat.Log),
		float("log10", javafloat.Log10),
		float("log1p", math.Log1p),
		float("sin", javafloat.Sin),
		float("cos", javafloat.Cos),
		float("tan", javafloat.Tan),
		float("asin", math.Asin),
		float("acos", math.Acos),
		float("atan", math.Atan),
		float("sinh", math.Sinh),
		float("cosh", math.Cosh),
		float("tanh", math.Tanh),
		float("toRadians", func(a float64) float64 { return a * 0.017453292519943295 }),
		float("toDegrees", func(a float64) float64 { return a * 57.29577951308232 }),
		float("signum", signum),
		{"static float signum(float)", fixed, signum},
		{"static double atan2(double, double)", fixed, math.Atan2},
		{"static double hypot(double, double)", fixed, math.Hypot},
		{"static double pow(double, double)", fixed, javafloat.Pow},
		{"static double IEEEremainder(double, double)", fixed, math.Remainder},
		{"static double copySign(double, double)", fixed, math.Copysign},
		{"static double ulp(double)", fixed, func(a float64) float64 {
			a = math.Abs(a)
			if math.IsInf(a, 0) || a != a {
				return a
			}
			if a == math.MaxFloat64 {
				return a - math.Nextafter(a, 0)
			}
			return math.Nextafter(a, math.Inf(1)) - a
		}},
		{"static int round(float)", fixed, func(t *thread, a []value) value {
			return number(int64(toInt32(roundHalfUp(a[0].floating()))))
		}},
		{"static long round(double)", fixed, func(t *thread, a []value) value {
			return number(toInt64(roundHalfUp(a[0].floating())))
		}},
		{"static double random()", fixed, func(t *thread, _ []value) value { return floating(rand.Float64()) }},
		{"static int floorDiv(int, int)", fixed, func(a, b int64) int64 { return int64(int32(floorDiv(a, b))) }},
		{"static long floorDiv(long, int)", fixed, floorDiv},
		{"static long floorDiv(long, long)", fixed, floorDiv},
		{"static int floorMod(int, int)", fixed, floorMod},
		{"static int floorMod(long, int)", fixed, floorMod},
		{"static long floorMod(long, long)", fixed, floorMod},
		{"static int addExact(int, int)", fixed, func(a, b int64) int64 { return exactInt(a + b) }},
		{"static int subtractExact(int, int)", fixed, func(a, b int64) int64 { return exactInt(a - b) }},
		{"static int multiplyExact(int, int)", fixed, func(a, b int64) int64 { return exactInt(a * b) }},
		{"static int incrementExact(int)", fixed, func(a int64) int64 { return exactInt(a + 1) }},
		{"static int decrementExact(int)", fixed, func(a int64) int64 { return exactInt(a - 1) }},
		{"static int negateExact(int)", fixed, func(a int64) int64 { return exactInt(-a) }},
		{"static int toIntExact(long)", fixed, exactInt},
		{"static long addExact(long, long)", fixed, func(a, b int64) int64 {
			if c := a + b; (a^c)&(b^c) >= 0 {
				return c
			}
			return overflow()
		}},
		{"static long subtractExact(long, long)", fixed, func(a, b int64) int64 {
			if c := a - b; (a^b)&(a^c) >= 0 {
				return c
			}
			return overflow()
		}},
		{"static long multiplyExact(long, int)", fixed, multiplyExact},
		{"static long multiplyExact(long, long)", fixed, multiplyExact},
		{"static long incrementExact(long)", fixed, func(a int64) int64 {
			if a == math.MaxInt64 {
				overflow()
			}
			return a + 1
		}},
		{"static long decrementExact(long)", fixed, func(a int64) int64 {
			if a == math.MinInt64 {
				overflow()
			}
			return a - 1
		}},
		{"static long negateExact(long)", fixed, func(a int64) int64 {
			if a == math.MinInt64 {
				overflow()
			}
			return -a
		}},
	}
}

// cubeRoot computes as the library that Java's result is defined by, which is not always rounded correctly.
func cubeRoot(a float64) float64 {
	if a == 0 || a-a != 0 {
		return a
	}
	x := math.Abs(a)
	high := func(f float64) uint64 { return math.Float64bits(f) >> 32 }
	t := math.Float64frombits((high(x)/3 + 715094163) << 32)
	if x < 0x1p-1022 {
		t = math.Float64frombits((high(x*0x1p54)/3 + 696219795) << 32)
	}
	r := t * t / x
	s := 19.0/35 + float64(r*t)
	t *= 5.0/14 + 45.0/28/(s+99.0/70+-864.0/1225/s)
	t = math.Float64frombits((high(t) + 1) << 32)
	s = t * t
	r = x / s
	r = (r - t) / (t + t + r)
	return math.Copysign(t+float64(t*r), a)
}

func signum(a float64) float64 {
	switch {
	case a > 0:
		return 1
	case a < 0:
		return -1
	}
	return a
}

func roundHalfUp(a float64) float64 {
	f := math.Floor(a)
	if a-f >= 0.5 {
		return f + 1
	}
	return f
}

func divideByZero() { throw(classArithmeticException, "/ by zero") }

func floorDiv(a, b int64) int64 {
	if b == 0 {
		divideByZero()
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 {
	if b == 0 {
		divideByZero()
	}
	m := a % b
	if m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m
}

func exactInt(v int64) int64 {
	if v != int64(int32(v)) {
		throw(classArithmeticException, "integer overflow")
	}
	return v
}

func overflow() int64 {
	throw(classArithmeticException, "long overflow")
	return 0
}

func multiplyExact(a, b int64) int64 {
	if c := a * b; a == 0 || c/a == b && !(a == -1 && b == math.MinInt64) {
		return c
	}
	return overflow()
}

// toInt32 and toInt64 convert floating numbers as casts do: NaN is 0, and numbers that are too large become the
// largest.
func toInt32(f float64) int32 {
	switch {
	case f != f:
		return 0
	case f >= math.MaxInt32:
		return math.MaxInt32
	case f <= math.MinInt32:
		return math.MinInt32
	}
	return int32(f)
}

func toInt64(f float64) int64 {
	switch {
	case f != f:
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}
