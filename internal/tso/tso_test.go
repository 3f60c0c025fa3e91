package tso

import (
	"testing"
	"time"
)

// TestTransfer takes timestamps across changes of the leader. They rise, and after a jump the milliseconds stand, which
// is what nodes must be able to take.
func TestTransfer(t *testing.T) {
	o := Oracle{Step: 50 * time.Millisecond, Lag: 130 * time.Millisecond}
	physical, logical := o.Next(1)
	if behind := time.Now().UnixMilli() - physical; behind < 130 {
		t.Errorf("the clock is %d ms behind real time", behind)
	}
	for _, jump := range []time.Duration{0, time.Minute, time.Millisecond} {
		o.Transfer(jump)
		for i := range 3 {
			p, l := o.Next(2)
			if p < physical || p == physical && l < logical+2 {
				t.Fatalf("(%d, %d) is followed by (%d, %d)", physical, logical, p, l)
			}
			if i > 0 && jump > 0 && p != physical {
				t.Errorf("after a jump of %v the clock runs", jump)
			}
			physical, logical = p, l
		}
	}
	bound := physical + 1000
	o.Begin(bound)
	if p, _ := o.Next(1); p != bound {
		t.Errorf("the clock begins at %d, not at the bound, %d", p, bound)
	}
}

// TestCount takes more timestamps while the clock stands than a millisecond has: the counts stay below 2^18, because a
// greater one would be a timestamp of a later millisecond.
func TestCount(t *testing.T) {
	var o Oracle
	o.Transfer(time.Since(time.UnixMilli(0)) + time.Hour)
	first, _ := o.Next(1)
	for range 300 {
		if physical, logical := o.Next(1024); logical >= maxCount || physical > first+1 {
			t.Fatalf("the clock shows (%d, %d) and stands since %d", physical, logical, first)
		}
	}
	if physical, _ := o.Next(1); physical != first+1 {
		t.Errorf("the clock shows %d, not the millisecond after %d", physical, first)
	}
}
