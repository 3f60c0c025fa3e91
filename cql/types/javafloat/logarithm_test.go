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

func TestExpAtItsLimits(t *testing.T) {
	for _, v := range [][2]float64{
		{709.7, 1.6549840276802644e308},
		{709.782712893384, 1.7976931348622732e308},
		{709.7827128933841, math.Inf(1)},
		{1e9, math.Inf(1)},
		{-745.1, 5e-324},
		{-746, 0},
		{-1e9, 0},
		{math.Inf(-1), 0},
		{0, 1},
	} {
		if got := Exp(v[0]); got != v[1] {
			t.Errorf("e to the power of %v: got %v, want %v", v[0], got, v[1])
		}
	}
}
