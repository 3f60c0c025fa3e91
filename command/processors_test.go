package command

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestCrowd(t *testing.T) {
	began := time.Now()
	c := crowd{waits: 1000}
	for _, test := range []struct {
		after time.Duration
		waits uint64
		more  bool
	}{
		{0, 1000, false},
		{crowdEvery, 1000 + crowdWaits - 1, false},
		{2 * crowdEvery, 1000 + 2*crowdWaits - 1, true},
		{3 * crowdEvery, 1000 + 2*crowdWaits, true},
		{2*crowdEvery + crowdStays - 1, 1000 + 2*crowdWaits, true},
		{2*crowdEvery + crowdStays, 1000 + 2*crowdWaits, false},
		{3*crowdEvery + crowdStays, 1000 + 3*crowdWaits, true},
		{4*crowdEvery + crowdStays, 1000 + 4*crowdWaits, true},
		{4*crowdEvery + 2*crowdStays - 1, 1000 + 4*crowdWaits, true},
		{4*crowdEvery + 2*crowdStays, 1000 + 4*crowdWaits, false},
	} {
		if more := c.look(began.Add(test.after), test.waits); more != test.more {
			t.Errorf("%d long waits after %v: more processors: %t", test.waits, test.after, more)
		}
	}
}

// Go has more processors than cores, still more while too many goroutines run, and as many as before at the end.
func TestMoreProcessors(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { governProcessors(ctx, func(string) string { return "" }) })
	usual := before
	if before >= runtime.NumCPU() {
		usual += usualExtra
	}
	deadline := time.Now().Add(time.Minute)
	for runtime.GOMAXPROCS(0) != usual && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.GOMAXPROCS(0); n != usual {
		t.Errorf("%d processors at rest", n)
	}
	for range 8 * (before + usualExtra) {
		all.Go(func() {
			for ctx.Err() == nil {
			}
		})
	}
	deadline = time.Now().Add(time.Minute)
	for runtime.GOMAXPROCS(0) != before+crowdExtra && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.GOMAXPROCS(0); n != before+crowdExtra {
		t.Errorf("%d processors", n)
	}
	cancel()
	all.Wait()
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("%d processors at the end, %d before", n, before)
	}
}

// The environment is obeyed.
func TestProcessorsOfEnvironment(t *testing.T) {
	governProcessors(t.Context(), func(name string) string { return map[string]string{"GOMAXPROCS": "2"}[name] })
}
