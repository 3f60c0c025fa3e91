package server

import (
	"runtime"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store/pace"
)

// handler is how a kind of request is served.
type handler struct {
	// inReader reports whether the reader may serve the request: serving takes little time and never waits. nil:
	// always.
	inReader func(*request) bool

	// serve answers the request, now or later, exactly once.
	serve func(*request)
}

// handlers has what serves each request on a connection that is ready.
var handlers = [...]handler{
	protocol.OpStartup:      {serve: startupAgain},
	protocol.OpCredentials:  {serve: options}, // decoding refuses it
	protocol.OpOptions:      {serve: options},
	protocol.OpQuery:        {inReader: queryInReader, serve: query},
	protocol.OpPrepare:      {inReader: never, serve: prepare},
	protocol.OpExecute:      {inReader: executeInReader, serve: execute},
	protocol.OpRegister:     {serve: register},
	protocol.OpBatch:        {inReader: batchInReader, serve: batch},
	protocol.OpAuthResponse: {inReader: never, serve: authResponse},
}

func never(*request) bool { return false }

// serveRequest serves a request of the agreed version. An error ends the connection.
func (c *conn) serveRequest(h protocol.Header, body []byte) error {
	if !c.session.ready {
		if c.session.authenticates {
			c.authenticate(h, body)
		} else {
			c.handshakeAgain(h, body)
		}
		return nil
	}
	c.server.metrics.requests[h.Opcode].Add(1)
	c.served.Add(1)
	r := newRequest(c, h, body)
	waited, err := c.takeBytes(r.charge)
	if err != nil {
		r.overloaded = true
		r.run(func(r *request) { r.fail(err) })
		return nil
	}
	if waited {
		r.warnAboutBytes()
	}
	if c.server.throttle != nil {
		if err := r.keepToRate(c.server.throttle); err != nil {
			r.run(func(r *request) { r.fail(err) })
			return nil
		}
	}
	if h.Opcode == protocol.OpBatch && len(body) > longBatch && !c.mayWait() {
		c.errors = 0
		return c.serveLong(r, body)
	}
	if err := r.decode(body); err != nil {
		r.run(func(r *request) { r.fail(err) })
		return c.countError()
	}
	c.errors = 0
	if h.Flags.Has(protocol.FlagTracing) && h.Opcode.Traceable() {
		r.startTrace()
	}
	by := &handlers[h.Opcode]
	mayWait := c.mayWait() && h.Opcode.Traceable()
	if !mayWait && (by.inReader == nil || by.inReader(r)) {
		if r.outlivesInput() {
			if err := r.decode(r.detach(body)); err != nil {
				r.run(func(r *request) { r.fail(err) })
				return nil
			}
		}
		if st := r.statement; st != nil && st.brief {
			return c.serveBrief(r, body, by.serve)
		}
		r.run(by.serve)
		return nil
	}
	return c.serveDetached(r, body, by.serve)
}

// mayWait reports whether a request may have to wait for what the reader does not wait for: somebody who looks at it
// before it is served, or nodes that are slow.
func (c *conn) mayWait() bool { return c.server.intercepts() || c.node.slowed() }

// serveDetached copies a request out of the read buffer and serves it in a goroutine.
func (c *conn) serveDetached(r *request, body []byte, serve func(*request)) error {
	if err := r.decode(r.detach(body)); err != nil {
		r.run(func(r *request) { r.fail(err) })
		return nil
	}
	return c.serveInGoroutine(r, func(r *request) {
		c.detached.add(r)
		if lag := c.node.lag(); lag > 0 && r.header.Opcode.Traceable() {
			if err := pace.Sleep(c.ctx, lag); err != nil {
				r.fail(err)
				return
			}
		}
		if err := r.intercept(); err != nil {
			r.fail(err)
			return
		}
		serve(r)
	})
}

// serveLong serves a long BATCH on a turn, from decoding on: decoded it is much larger than its body.
func (c *conn) serveLong(r *request, body []byte) error {
	body = r.detach(body)
	return c.serveInGoroutine(r, func(r *request) {
		kind := "BATCH"
		if err := r.startLargeWrite(kind); err != nil {
			r.fail(err)
			return
		}
		turn, err := r.takeTurn(c.server.limits.WriteTimeout)
		if err != nil {
			r.fail(r.timedOut(err, kind))
			return
		}
		defer turn.End()
		if err := r.decode(body); err != nil {
			r.fail(err)
			return
		}
		c.detached.add(r)
		if r.header.Flags.Has(protocol.FlagTracing) {
			r.startTrace()
		}
		batch(r)
	})
}

// serveInGoroutine serves a request, which must not use the read buffer, in a goroutine.
func (c *conn) serveInGoroutine(r *request, serve func(*request)) error {
	if err := c.takeGoroutine(); err != nil {
		r.run(func(r *request) { r.fail(err) })
		return nil
	}
	r.detached = true
	go func() {
		growStack()
		defer c.giveGoroutine()
		r.run(serve)
	}()
	return nil
}

// growStack gives the goroutine the stack that most requests need. Otherwise it is copied several times while it grows,
// with ever more frames on it.
//
//go:noinline
func growStack() {
	var room [stackRoom]byte
	runtime.KeepAlive(&room)
}

const stackRoom = 6 << 10
