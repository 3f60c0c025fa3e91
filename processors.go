package main

import (
	"context"
	"runtime"
	"runtime/metrics"
	"time"
)

// Go gives a goroutine its processor for up to 10 ms. Tables that are written and compacted in the background keep
// several goroutines busy, and on a small machine a request that needs two or three turns behind them takes 100 ms and
// more. The system divides cores in smaller slices, and runs at once what has slept. So while goroutines wait long,
// Go gets more processors than there are cores. At other times that would cost a little more for each request.
const (
	crowdEvery = 100 * time.Millisecond
	crowdWait  = 5 * time.Millisecond // a long wait
	crowdWaits = 4                    // as many long waits between two looks are a crowd
	crowdStays = 30 * time.Second     // how long there are more processors after the last crowd
	crowdExtra = 8                    // processors more than cores: more than goroutines that merge tables at a time
)

// governProcessors gives Go more processors while goroutines wait long for one. It returns when ctx ends. It does
// nothing if the environment says how many there are.
func governProcessors(ctx context.Context, getenv func(string) string) {
	if getenv("GOMAXPROCS") != "" {
		return
	}
	latencies := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	c := crowd{waits: longWaits(latencies)}
	tick := time.NewTicker(crowdEvery)
	defer tick.Stop()
	defer func() {
		if c.more {
			runtime.SetDefaultGOMAXPROCS()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			switch was := c.more; {
			case c.look(now, longWaits(latencies)) == was:
			case c.more:
				runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + crowdExtra)
			default:
				runtime.SetDefaultGOMAXPROCS()
			}
		}
	}
}

// longWaits is how many times goroutines have waited long for a processor since the process began.
func longWaits(latencies []metrics.Sample) uint64 {
	metrics.Read(latencies)
	h := latencies[0].Value.Float64Histogram()
	n := uint64(0)
	for i := len(h.Counts) - 1; i >= 0 && h.Buckets[i] >= crowdWait.Seconds(); i-- {
		n += h.Counts[i]
	}
	return n
}

// crowd decides when there are more processors.
type crowd struct {
	more  bool
	until time.Time // when there are fewer again
	waits uint64    // long waits until the last look
}

// look takes the number of long waits so far, and reports whether there should be more processors.
func (c *crowd) look(now time.Time, waits uint64) bool {
	before := c.waits
	c.waits = waits
	switch {
	case waits-before >= crowdWaits:
		c.more, c.until = true, now.Add(crowdStays)
	case !now.Before(c.until):
		c.more = false
	}
	return c.more
}
