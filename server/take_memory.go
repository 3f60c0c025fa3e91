package server

import (
	"fmt"
	"sync/atomic"

	"github.com/cqld/cqld/cql/cqlerr"
)

// The methods here wait for memory, or for the right to run one more request. Meanwhile nothing is read from the
// connection, and the client notices because its writes block.

// share is what the requests of a connection have of something. One goroutine takes, and any gives.
type share struct {
	used  atomic.Int64
	freed chan struct{} // told when something was given back
}

func (s *share) init() { s.freed = make(chan struct{}, 1) }

func (s *share) give(n int64) {
	s.used.Add(-n)
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// fair is how much a connection may have of something of which there is so much in all: most, or where half of it is used,
// its part of the other half, but always least.
func (s *Server) fair(used, all, most, least int64) int64 {
	if used <= all/2 {
		return most
	}
	return min(most, max(least, all/2/max(1, s.open.Load())))
}

// leastBytes and leastAsides are what requests of a connection may have whatever others have.
const (
	leastBytes  = 64 << 10
	leastAsides = 4
)

// takeBytes makes room for a request in the budgets of bytes in flight. It waits unless the client said in STARTUP that
// it prefers an error.
func (c *conn) takeBytes(n int64) error {
	all := &c.server.memory.requests
	for {
		used := c.bytes.used.Load()
		most := c.server.fair(all.Used(), all.Limit(), c.server.limits.ConnectionBytes, leastBytes)
		switch {
		case used+n <= most:
			all.Add(n)
		case used > 0 || !all.TryTake(n):
			if c.session.throwOverload {
				return c.overloaded()
			}
			if used > 0 {
				if err := c.waitFor(&c.bytes); err != nil {
					return err
				}
				continue
			}
			var err error
			if c.pause(func() { err = all.Take(c.ctx, c, n) }); err != nil {
				return err
			}
		}
		c.bytes.used.Add(n)
		return nil
	}
}

// overloaded is told to a client whose request would have to wait for memory.
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

// giveBytes gives back what takeBytes took.
func (c *conn) giveBytes(n int64) {
	if all := &c.server.memory.requests; n > leastBytes {
		all.Leave(c, n)
	} else {
		all.Give(n)
	}
	c.bytes.give(n)
}

// takeSlot waits until the connection may have another goroutine.
func (c *conn) takeSlot() error {
	all := &c.server.memory.asides
	for c.slots.used.Load() >= c.server.fair(all.Load(), maxAsides, int64(c.server.limits.Concurrent), leastAsides) {
		if err := c.waitFor(&c.slots); err != nil {
			return err
		}
	}
	all.Add(1)
	c.slots.used.Add(1)
	return nil
}

// giveSlot gives back what takeSlot took.
func (c *conn) giveSlot() {
	c.server.memory.asides.Add(-1)
	c.slots.give(1)
}

// reserve waits for n bytes for something that arrives.
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

// release gives back what was reserved.
func (c *conn) release(n int64) {
	if c.reserved -= n; c.reserved > 0 {
		c.server.memory.arriving.Give(n)
		return
	}
	c.server.memory.arriving.Leave(c, n)
}

// releaseSegments gives back what the slices of a large message were reserved.
func (c *conn) releaseSegments() {
	if n := c.segments.Release(); n > 0 {
		c.release(int64(n))
	}
}
