package javafloat

import "testing"

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want string
	}{
		{0, "0.0"},
		{1, "1.0"},
		{0.01, "0.01"},
		{0.001, "0.001"},
		{0.00099, "9.9E-4"},
		{6.71e-5, "6.71E-5"},
		{1e7, "1.0E7"},
		{9999999, "9999999.0"},
		{-2.5, "-2.5"},
		{1.5e300, "1.5E300"},
		{2e23, "1.9999999999999998E23"},
	} {
		if got := Format(c.f, 64); got != c.want {
			t.Errorf("%v prints %s, want %s", c.f, got, c.want)
		}
	}
}
