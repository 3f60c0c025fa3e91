package javafloat

import (
	"math"
	"testing"
)

// The double nearest to a logarithm or exponential is the one of the standard library, or its neighbour.
func TestNearestDoubles(t *testing.T) {
	near := func(a, b float64) bool {
		return a == b || a != a && b != b || math.Nextafter(a, b) == b
	}
	for x := 1e-300; x < 1e300; x *= 7919.31 {
		for _, v := range [][2]float64{
			{Log(x), math.Log(x)}, {Exp(math.Mod(x, 700)), math.Exp(math.Mod(x, 700))},
		} {
			if !near(v[0], v[1]) {
				t.Errorf("%v: got %v, the library %v", x, v[0], v[1])
			}
		}
	}
	for n := -300; n < 300; n++ {
		if got := Log10(math.Pow10(n)); got != float64(n) && n >= 0 {
			t.Errorf("log10 of 1e%d: got %v", n, got)
		}
	}
}
