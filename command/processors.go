package command

import (
	"context"
	"runtime"
	"runtime/metrics"
	"time"
)

// A goroutine whose thread has lost its core to another process keeps its processor, and with it its turn, until the
// system gives a core back: often for 4 ms. What comes to other connections meanwhile has to wait for the processors
// that are left. With more processors than cores they get threads of their own, which run at once because they have
// slept. That costs a write up to a fifth more processor time, and a read next to nothing.
//
// Go itself gives a goroutine its processor for up to 10 ms. Tables that are written and compacted in the background
// keep several goroutines busy, and on a small machine a request that needs two or three turns behind them takes 100 ms
// and more. So while goroutines wait long, Go gets still more processors. At other times these would cost a little more
// for each request.
const (
	usualExtra = 4                      // processors more than cores
	crowdExtra = 8                      // while there is a crowd: more than goroutines that merge tables at a time
	crowdEvery = 100 * time.Millisecond // how often is looked
	crowdWait  = 5 * time.Millisecond   // a long wait
	crowdWaits = 4                      // as many long waits between two looks are a crowd
	crowdStays = 30 * time.Second       // how long there are more processors after the last crowd
)

// governProcessors gives Go more processors than there are cores, and still more while goroutines wait long for one. It
// returns when ctx ends. It does nothing if the environment says how many there are.
func governProcessors(ctx context.Context, getenv func(string) string) {
	if getenv("GOMAXPROCS") != "" {
		return
	}
	usualProcessors()
	defer runtime.SetDefaultGOMAXPROCS()
	latencies := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	c := crowd{waits: longWaits(latencies)}
	tick := time.NewTicker(crowdEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			switch was := c.more; {
			case c.look(now, longWaits(latencies)) == was:
			case c.more:
				runtime.SetDefaultGOMAXPROCS()
				runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + crowdExtra)
			default:
				usualProcessors()
			}
		}
	}
}

// usualProcessors gives Go as many processors as it has while there is no crowd. Where a control group may use less
// than all cores, more threads would use that up sooner, and then all of them wait: there it is what Go makes of it.
func usualProcessors() {
	runtime.SetDefaultGOMAXPROCS()
	if n := runtime.GOMAXPROCS(0); n >= runtime.NumCPU() {
		runtime.GOMAXPROCS(n + usualExtra)
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
