package cluster

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// Clock follows the clock of an engine. It reads the engine's clock now and then, and the process's monotonic clock in
// between. It never looks at the time of the machine.
type Clock struct {
	source engine.Clock
	bounds atomic.Pointer[bounds]

	mu sync.Mutex // held to replace bounds
}

// bounds say between which times the shared clock was at a moment.
type bounds struct {
	at               time.Duration // since started, by the monotonic clock
	earliest, latest time.Time
}

// started is when the process began, by the monotonic clock.
var started = time.Now()

func monotonic() time.Duration { return time.Since(started) }

// driftPart is the part of a span of time that monotonic clocks may differ in: 500 ppm.
const driftPart = 2000

func newClock(ctx context.Context, source engine.Clock) (*Clock, error) {
	c := &Clock{source: source}
	return c, c.measure(ctx)
}

// measure reads the engine's clock. The new bounds agree with this reading and with earlier ones, which makes them
// narrower than a single reading where the clock moves in steps.
func (c *Clock) measure(ctx context.Context) error {
	before := monotonic()
	now, err := c.source.Now(ctx)
	after := monotonic()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	read := &bounds{at: after, earliest: now, latest: now.Add(c.source.Step() + after - before)}
	if known := c.bounds.Load(); known != nil {
		earliest, latest := known.when(after)
		if earliest.Before(read.latest) && latest.After(read.earliest) { // else the clock has been moved
			if earliest.After(read.earliest) {
				read.earliest = earliest
			}
			if latest.Before(read.latest) {
				read.latest = latest
			}
		}
	}
	c.bounds.Store(read)
	return nil
}

// when returns the bounds at another moment.
func (b *bounds) when(at time.Duration) (earliest, latest time.Time) {
	gone := at - b.at
	drift := gone / driftPart
	return b.earliest.Add(gone - drift), b.latest.Add(gone + drift)
}

// Now is the latest time that the shared clock may show.
func (c *Clock) Now() time.Time {
	_, latest := c.bounds.Load().when(monotonic())
	return latest
}

// Until returns how long it takes until the shared clock is certainly past a timestamp in microseconds; 0: it is.
func (c *Clock) Until(timestamp int64) time.Duration {
	earliest, _ := c.bounds.Load().when(monotonic())
	return max(0, time.UnixMicro(timestamp+1).Sub(earliest))
}

// Passed is a timestamp in microseconds that the shared clock is certainly past.
func (c *Clock) Passed() int64 {
	earliest, _ := c.bounds.Load().when(monotonic())
	return earliest.UnixMicro() - 1
}
