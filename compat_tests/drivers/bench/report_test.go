package main

import (
	"slices"
	"testing"
)

// TestChosen reads -part.
func TestChosen(t *testing.T) {
	m := measurement{parts: "start,growth:200:3000,memory"}
	chosen, err := m.chosen()
	if err != nil || len(chosen) != 3 || chosen[1].name != "growth" || !slices.Equal(chosen[1].rows, []int64{200, 3000}) ||
		!slices.Equal(chosen[2].rows, []int64{1_000_000}) {
		t.Errorf("%s: %v, %v", m.parts, chosen, err)
	}
	for _, m.parts = range []string{"grow", "growth:many", "growth:1"} {
		if chosen, err := m.chosen(); err == nil {
			t.Errorf("%s: %v", m.parts, chosen)
		}
	}
}

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
