package observe

import (
	"testing"
	"time"
)

// TestPercentiles estimates percentiles of durations that are known.
func TestPercentiles(t *testing.T) {
	var h Histogram
	for i := range 1000 {
		h.Observe(time.Duration(i+1) * 100 * time.Microsecond) // 0.1 ms to 100 ms
	}
	var all timings
	all.add(&h)
	for _, c := range []struct {
		share       float64
		least, most time.Duration
	}{
		{0.5, 49 * time.Millisecond, 51 * time.Millisecond},
		{0.99, 98 * time.Millisecond, 100 * time.Millisecond},
		{1, 100 * time.Millisecond, 100 * time.Millisecond},
	} {
		if got := all.percentile(c.share); got < c.least || got > c.most {
			t.Errorf("the percentile %v is %v, want %v to %v", c.share, got, c.least, c.most)
		}
	}
	if all.count() != 1000 || all.longest != 100*time.Millisecond || new(timings).percentile(0.5) != 0 {
		t.Errorf("%d, %v", all.count(), all.longest)
	}
}

// TestRate lets a minute of ten executions a second go by, and ten minutes of none.
func TestRate(t *testing.T) {
	var r rate
	n := uint64(0)
	for range 12 {
		n += 50
		r.tick(n)
	}
	if r.perSecond < 9.999 || r.perSecond > 10.001 {
		t.Errorf("%v a second, want 10", r.perSecond)
	}
	for range 120 {
		r.tick(n)
	}
	if r.perSecond < 1.3 || r.perSecond > 1.4 { // 10 / e²
		t.Errorf("%v a second after ten minutes without any, want about 1.35", r.perSecond)
	}
}

// TestAmounts puts amounts into the buckets that Cassandra's estimates have.
func TestAmounts(t *testing.T) {
	for n, want := range map[int]int64{0: 0, 1: 1, 2: 2, 8: 8, 9: 10, 18: 20, 1000: 1109, 1109: 1109} {
		var a Amounts
		a.Observe(n)
		if d := a.Distribution(); d.Count != 1 || d.Max != want || d.P50 != want || d.P99 != want || d.P999 != want {
			t.Errorf("%d: %+v, want %d", n, d, want)
		}
	}
	var a Amounts
	for i := range 1000 {
		a.Observe(i % 2)
	}
	a.Observe(30)
	if d := a.Distribution(); d.Count != 1001 || d.Max != 35 || d.P50 != 1 || d.P99 != 1 || d.P999 != 1 {
		t.Errorf("%+v", d)
	}
}
