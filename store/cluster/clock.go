package cluster

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// Clock makes timestamps of cells, in microseconds, from those of the engine's clock.
//
// The engine's clock cannot be extrapolated. When PD's leader changes, it begins at a bound that was stored, up to five
// seconds in the future, and stands until real time has caught up. A node that assumes that it runs takes timestamps
// to have passed that others do not have reached yet, and acknowledged writes are shadowed. So only its order is used.
// These invariants make a write later than all writes that were acknowledged before it, whichever nodes made them:
//
//  1. Order. Of two timestamps of the engine the later one has no earlier microsecond (microseconds). A write takes its
//     timestamp from the engine after it has begun.
//  2. Passed. A write is acknowledged when all later timestamps of the engine have a later microsecond. This is so as
//     soon as the node has seen one that says so (passed): nearly always, its own.
//  3. Decisions. The timestamp of a decision is above all rows that it has read (After), except client's ones in the
//     future (Future).
//
// A node that is alone needs no timestamps of the engine: see alone.go.
type Clock struct {
	source  engine.Clock
	machine func() time.Time
	read    atomic.Pointer[reading]
	shown   atomic.Int64 // the latest time that Now has returned, in nanoseconds
}

// reading is what the engine's clock has shown at a moment.
type reading struct {
	at   time.Duration // since started, by the monotonic clock
	time time.Time
}

// started is when the process began, by the monotonic clock.
var started = time.Now()

func monotonic() time.Duration { return time.Since(started) }

func newClock(ctx context.Context, source engine.Clock, machine func() time.Time) (*Clock, error) {
	c := &Clock{source: source, machine: machine}
	return c, c.measure(ctx)
}

// measure reads the engine's clock.
func (c *Clock) measure(ctx context.Context) error {
	t, err := c.source.Timestamp(ctx, 1)
	if err != nil {
		return err
	}
	c.read.Store(&reading{at: monotonic(), time: time.UnixMicro(microseconds(t))})
	return nil
}

// Now is about the time of the shared clock, for what expires: the last reading and the time since. It never goes back.
func (c *Clock) Now() time.Time {
	r := c.read.Load()
	return time.Unix(0, raise(&c.shown, r.time.Add(monotonic()-r.at).UnixNano()))
}

// raise sets a number unless it is greater, and returns the greater one.
func raise(n *atomic.Int64, to int64) int64 {
	for old := n.Load(); old < to; old = n.Load() {
		if n.CompareAndSwap(old, to) {
			return to
		}
	}
	return n.Load()
}

// A millisecond has a thousand microseconds, but may have 2^18 timestamps. The first ones get a microsecond each. The
// others share the rest, because a clock that stands must not run out of them: a write with such a timestamp waits
// until the next microsecond has begun.
const (
	ownMicrosecond   = 700
	sharePerMicro    = 1024
	lastMicrosecond  = ownMicrosecond + (engine.MaxCount-1-ownMicrosecond)/sharePerMicro
	_                = uint(999 - lastMicrosecond) // else it would be in the next millisecond
	microsPerMilli   = 1000
	decisionHeadroom = microsPerMilli
)

// microseconds returns the timestamp of cells for one of the engine.
func microseconds(t engine.Timestamp) int64 {
	n := t.Count
	if n >= ownMicrosecond {
		n = ownMicrosecond + (n-ownMicrosecond)/sharePerMicro
	}
	return t.Milliseconds*microsPerMilli + n
}

// passed returns the latest microsecond that is before those of all timestamps later than t.
func passed(t engine.Timestamp) int64 {
	if t.Count < ownMicrosecond {
		return microseconds(t)
	}
	return microseconds(t) - 1
}

// missing returns how many timestamps to take, after t, so that a timestamp of cells has passed. If it is in a later
// millisecond only time helps.
func missing(t engine.Timestamp, timestamp int64) int {
	switch n := timestamp - passed(t); {
	case n > microsPerMilli:
		return 1
	case t.Count >= ownMicrosecond:
		return sharePerMicro
	default:
		return int(max(1, n))
	}
}

// After returns a timestamp for a decision: later than the newest one that it has read. It is about now by the clock of
// the machine, as Cassandra's is, so that a client's timestamp of a moment later is later also when the engine's clock
// is ahead. It has passed, unless the newest one has not. It is a millisecond earlier than it could be, because the
// decisions that follow, each a microsecond later, should have passed too.
func (c *Clock) After(newest int64) int64 {
	now := min(c.machine().UnixMicro(), passed(c.source.Seen())-decisionHeadroom)
	return max(newest+1, now)
}
