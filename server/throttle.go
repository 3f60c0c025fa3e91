package server

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
)

// throttle bounds how many requests are served in a second. What was not used in the last second may be used at once.
type throttle struct {
	perSecond int64
	due       atomic.Int64 // when the requests so far would be over at that rate, in nanoseconds since 1970
}

// newThrottle returns a bound; nil: there is none.
func newThrottle(perSecond int) *throttle {
	if perSecond <= 0 {
		return nil
	}
	return &throttle{perSecond: int64(perSecond)}
}

// reserve counts a request and returns for how long its connection has to be held back. With atOnce a request that
// would have to wait is not counted.
func (l *throttle) reserve(now time.Time, atOnce bool) time.Duration {
	for {
		due, at := l.due.Load(), now.UnixNano()
		next := max(due, at-int64(time.Second)) + int64(time.Second)/l.perSecond
		if wait := next - at; wait > 0 && atOnce {
			return time.Duration(wait)
		}
		if l.due.CompareAndSwap(due, next) {
			return time.Duration(max(0, next-at))
		}
	}
}

// keepToRate holds a connection back that asks for too much, or returns Cassandra's error if the client asked for one
// in STARTUP.
func (r *request) keepToRate(l *throttle) error {
	c := r.conn
	wait := l.reserve(time.Now(), c.session.throwOverload)
	switch {
	case wait == 0:
		return nil
	case c.session.throwOverload:
		return cqlerr.Overloadedf("Request breached global limit of %d requests/second. Server is currently in an "+
			"overloaded state and cannot accept more requests.", l.perSecond)
	}
	r.warn(fmt.Sprintf("Request breached global limit of %d requests/second and triggered backpressure.", l.perSecond))
	c.pause(func() {
		pause := time.NewTimer(wait)
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-c.ctx.Done():
		}
	})
	return nil
}
