package safepoint

import (
	"math"
	"testing"
	"time"
)

// TestServices follows the answers of PD: whoever asks first makes gc_worker, which then holds everything back.
func TestServices(t *testing.T) {
	s := Services{}
	begin := time.Unix(1000, 0)
	for _, step := range []struct {
		what  string
		name  string
		ttl   int64
		point uint64
		after time.Duration
		least uint64
		err   error
	}{
		{"a reader is the first to ask", "reader", 60, 50, 0, 0, nil},
		{"the collection moves, and the reader holds it", Collector, math.MaxInt64, 100, 0, 50, nil},
		{"a point below the least is not taken", "late", 60, 40, 0, 50, nil},
		{"the collection cannot expire", Collector, 60, 200, 0, 0, errExpires},
		{"nor be removed", Collector, 0, 0, 0, 0, errRemoved},
		{"the reader's time is over", "other", 60, 120, 61 * time.Second, 100, nil},
		{"the collection moves up to another one", Collector, math.MaxInt64, 300, 61 * time.Second, 120, nil},
		{"which is removed", "other", 0, 0, 61 * time.Second, 300, nil},
	} {
		least, err := s.Update(step.name, step.ttl, step.point, begin.Add(step.after))
		if least != step.least || err != step.err {
			t.Errorf("%s: %d and %v, want %d and %v", step.what, least, err, step.least, step.err)
		}
	}
	if w := s[Collector]; w.Until != math.MaxInt64 || len(s) != 1 {
		t.Errorf("in the end there are %v", s)
	}
}
