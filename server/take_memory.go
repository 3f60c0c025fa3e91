package server

import (
	"fmt"

	"github.com/cqld/cqld/cql/cqlerr"
)

// The methods here wait for memory, or for the right to run one more request. Meanwhile nothing is read from the
// connection, and the client notices because its writes block.

// ownShare is what requests of a connection may have together whatever others have.
const ownShare = 64 << 10

// takeBytes makes room for a request in the budgets of bytes in flight. It waits unless the client said in STARTUP that
// it prefers an error.
func (c *conn) takeBytes(n int64) error {
	all := &c.server.memory.requests
	if c.bytes.TryTake(n) {
		if all.TryTake(n) {
			return nil
		}
		if c.bytes.Used() <= ownShare {
			all.Add(n)
			return nil
		}
		c.bytes.Give(n)
	}
	if c.session.throwOverload {
		return cqlerr.Overloadedf("Request breached limit on bytes in flight. (%s)Server is currently in an "+
			"overloaded state and cannot accept more requests.",
			fmt.Sprintf("Endpoint: %d/%d bytes, Global: %d/%d bytes.", c.bytes.Used(), c.bytes.Limit(),
				all.Used(), all.Limit()))
	}
	var err error
	c.pause(func() {
		if err = c.bytes.Take(c.ctx, nil, n); err != nil {
			return
		}
		if err = all.Take(c.ctx, nil, n); err != nil {
			c.bytes.Give(n)
		}
	})
	return err
}

// ownAsides is how many goroutines requests of a connection may have whatever others have.
const ownAsides = 4

// takeSlot waits until the connection may have another goroutine.
func (c *conn) takeSlot() (err error) {
	all := &c.server.memory.asides
	if c.slots.TryTake(1) {
		if all.TryTake(1) {
			return nil
		}
		if c.slots.Used() <= ownAsides {
			all.Add(1)
			return nil
		}
		c.slots.Give(1)
	}
	c.pause(func() {
		if err = c.slots.Take(c.ctx, nil, 1); err != nil {
			return
		}
		if err = all.Take(c.ctx, nil, 1); err != nil {
			c.slots.Give(1)
		}
	})
	return err
}

// giveSlot gives back what takeSlot took.
func (c *conn) giveSlot() {
	c.slots.Give(1)
	c.server.memory.asides.Give(1)
}

// reserve waits for n bytes for something that arrives, which owner holds.
func (c *conn) reserve(owner any, n int64) (err error) {
	if n <= 0 || c.server.memory.arriving.TryTake(n) {
		return nil
	}
	c.pause(func() { err = c.server.memory.arriving.Take(c.arriving, owner, n) })
	return err
}

// releaseSegments gives back what the slices of a large message were reserved.
func (c *conn) releaseSegments() {
	if n := c.segments.Release(); n > 0 {
		c.server.memory.arriving.Leave(&c.segments, int64(n))
	}
}
