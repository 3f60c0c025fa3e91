package local

import (
	"testing"
	"time"
)

// TestPause finds the longest pause between successes that a fault has made, and its part after the fault.
func TestPause(t *testing.T) {
	begin := time.Unix(1000, 0)
	at := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	var m Meter
	for _, s := range []int{-9, -1, 1, 4, 12, 30} {
		m.succeeded = append(m.succeeded, at(s))
	}
	longest, after, err := m.Pause(begin, at(10))
	if longest != 8*time.Second || after != 2*time.Second || err != nil {
		t.Errorf("the pause is %v, %v of it after the end, %v", longest, after, err)
	}
	if _, _, err := m.Pause(begin, at(40)); err == nil {
		t.Error("there is a success after the last one")
	}
}
