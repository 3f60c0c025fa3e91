package server

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
)

// The methods in this file wait for memory, or until one more request may have a goroutine. Meanwhile the connection
// is not read, and the client notices because its writes block.

// share is the part of a resource that the requests of a connection hold. The reader takes, and any goroutine gives
// back.
type share struct {
	used  atomic.Int64
	freed chan struct{} // gets a value when something was given back
}

func (s *share) init() { s.freed = make(chan struct{}, 1) }

func (s *share) give(n int64) {
	s.used.Add(-n)
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// fair is how much a connection may hold of a resource: maxShare while less than half of all is used; otherwise an
// equal part of the other half, but at least minShare.
func (s *Server) fair(used, all, maxShare, minShare int64) int64 {
	if used <= all/2 {
		return maxShare
	}
	return min(maxShare, max(minShare, all/2/max(1, s.open.Load())))
}

// minBytes and minGoroutines are guaranteed to the requests of every connection.
const (
	minBytes      = 64 << 10
	minGoroutines = 4
)

// takeBytes takes room for a request from the bytes in flight. It waits for room, and reports that, unless the client
// asked in STARTUP for an error instead.
func (c *conn) takeBytes(n int64) (waited bool, err error) {
	all := &c.server.memory.requests
	for {
		used := c.bytes.used.Load()
		limit := c.server.fair(all.Used(), all.Limit(), c.server.limits.ConnectionBytes, minBytes)
		switch {
		case used+n <= limit:
			all.Add(n)
		case used > 0 || !all.TryTake(n):
			if c.session.throwOverload {
				return false, c.overloaded()
			}
			waited = true
			if used > 0 {
				if err := c.waitFor(&c.bytes); err != nil {
					return waited, err
				}
				continue
			}
			if c.pause(func() { err = all.Take(c.ctx, c, n) }); err != nil {
				return waited, err
			}
		}
		c.bytes.used.Add(n)
		return waited, nil
	}
}

// warnAboutBytes adds the warning to a request that had to wait for room.
func (r *request) warnAboutBytes() {
	l := &r.conn.server.limits
	r.warn(fmt.Sprintf("Request breached limit(s) on bytes in flight (Endpoint: %d, Global: %d) and triggered "+
		"backpressure.", l.ConnectionBytes, l.BytesInFlight))
}

// overloaded is the error for a request that would have to wait for memory.
func (c *conn) overloaded() error {
	all := &c.server.memory.requests
	return cqlerr.Overloadedf("Request breached limit on bytes in flight. (%s)Server is currently in an "+
		"overloaded state and cannot accept more requests.",
		fmt.Sprintf("Endpoint: %d/%d bytes, Global: %d/%d bytes.", c.bytes.used.Load(), c.server.limits.ConnectionBytes,
			all.Used(), all.Limit()))
}

// waitFor waits until a request of the connection gives something back.
func (c *conn) waitFor(s *share) (err error) {
	c.pause(func() {
		select {
		case <-s.freed:
		case <-c.ctx.Done():
			err = c.ctx.Err()
		}
	})
	return err
}

// giveBytes gives back the bytes of takeBytes.
func (c *conn) giveBytes(n int64) {
	if all := &c.server.memory.requests; n > minBytes {
		all.Leave(c, n)
	} else {
		all.Give(n)
	}
	c.bytes.give(n)
}

// takeGoroutine waits until another request of the connection may have a goroutine.
func (c *conn) takeGoroutine() error {
	all := &c.server.memory.goroutines
	limit := int64(c.server.limits.Concurrent)
	for c.goroutines.used.Load() >= c.server.fair(all.Load(), int64(c.server.limits.Requests), limit, minGoroutines) {
		if err := c.waitFor(&c.goroutines); err != nil {
			return err
		}
	}
	all.Add(1)
	c.goroutines.used.Add(1)
	return nil
}

// giveGoroutine gives back the place of takeGoroutine.
func (c *conn) giveGoroutine() {
	c.server.memory.goroutines.Add(-1)
	c.goroutines.give(1)
}

// reserve waits for n bytes of memory for arriving messages.
func (c *conn) reserve(n int64) (err error) {
	if n <= 0 {
		return nil
	}
	if !c.server.memory.arriving.TryTake(n) {
		if c.pause(func() { err = c.server.memory.arriving.Take(c.arriving, c, n) }); err != nil {
			return err
		}
	}
	c.reserved += n
	return nil
}

// release gives back n reserved bytes.
func (c *conn) release(n int64) {
	if c.reserved -= n; c.reserved > 0 {
		c.server.memory.arriving.Give(n)
		return
	}
	c.server.memory.arriving.Leave(c, n)
}

// throttle is a token bucket: it bounds the requests that are served in a second. A burst may use the tokens that the
// last second has left.
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

// keepToRate delays a connection that sends too many requests, or returns Cassandra's error if the client asked for
// one in STARTUP.
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
