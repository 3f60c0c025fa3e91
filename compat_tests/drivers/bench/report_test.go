package main

import "testing"

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		want float64
	}{
		{[]float64{7}, 7},
		{[]float64{5, 1}, 3},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 100, 1, 2}, 3},
	} {
		if got := median(c.of); got != c.want {
			t.Errorf("of %v it is %v, want %v", c.of, got, c.want)
		}
	}
	if got := ratios([]float64{1, 6}, []float64{2, 4}); got != "1.00 (0.50-1.50)" {
		t.Errorf("ratios: %s", got)
	}
}
