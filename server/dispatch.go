package server

import (
	"github.com/cqld/cqld/protocol"
)

// handler is how a kind of request is served.
type handler struct {
	// here looks whether the goroutine that reads may serve the request, because that takes little and waits
	// for nothing. nil: always.
	here func(*request) bool

	// serve answers the request, now or later, exactly once.
	serve func(*request)
}

// handlers has what serves each request on a connection that is ready.
var handlers = [...]handler{
	protocol.OpStartup:      {serve: startupAgain},
	protocol.OpCredentials:  {serve: options}, // decoding refuses it
	protocol.OpOptions:      {serve: options},
	protocol.OpQuery:        {here: queryHere, serve: query},
	protocol.OpPrepare:      {here: never, serve: prepare},
	protocol.OpExecute:      {here: executeHere, serve: execute},
	protocol.OpRegister:     {serve: register},
	protocol.OpBatch:        {here: batchHere, serve: batch},
	protocol.OpAuthResponse: {serve: authResponse},
}

func never(*request) bool { return false }

// request serves one request whose version is right. The error, if there is one, is the connection's end.
func (c *conn) request(h protocol.Header, body []byte) error {
	if !c.session.ready {
		c.handshakeAgain(h, body)
		return nil
	}
	c.server.metrics.requests[h.Opcode].Add(1)
	c.served.Add(1)
	r := newRequest(c, h, body)
	if err := c.takeBytes(r.charge); err != nil {
		r.overloaded = true
		r.run(func(r *request) { r.fail(err) })
		return nil
	}
	if h.Opcode == protocol.OpBatch && len(body) > longBatch && c.server.intercept == nil {
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
	intercepted := c.server.intercept != nil && h.Opcode.Traceable()
	if !intercepted && (by.here == nil || by.here(r)) {
		r.run(by.serve)
		return nil
	}
	return c.serveAside(r, body, by.serve)
}

// serveAside serves a request in a goroutine of its own.
func (c *conn) serveAside(r *request, body []byte, serve func(*request)) error {
	if err := r.decode(r.detach(body)); err != nil {
		r.run(func(r *request) { r.fail(err) })
		return nil
	}
	return c.serveInGoroutine(r, func(r *request) {
		if err := r.intercept(); err != nil {
			r.fail(err)
			return
		}
		serve(r)
	})
}

// serveLong serves a BATCH that is decoded, and planned, when it has its turn: what it is decoded to is much more than its
// body.
func (c *conn) serveLong(r *request, body []byte) error {
	body = r.detach(body)
	return c.serveInGoroutine(r, func(r *request) {
		kind := "BATCH"
		if err := r.takeHeavy(kind); err != nil {
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
		if r.header.Flags.Has(protocol.FlagTracing) {
			r.startTrace()
		}
		batch(r)
	})
}

// serveInGoroutine serves a request that does not need the read buffer.
func (c *conn) serveInGoroutine(r *request, serve func(*request)) error {
	if err := c.takeSlot(); err != nil {
		r.run(func(r *request) { r.fail(err) })
		return nil
	}
	r.aside = true
	go func() {
		defer c.giveSlot()
		r.run(serve)
	}()
	return nil
}

// handshakeAgain serves a request on a connection whose first STARTUP was refused.
func (c *conn) handshakeAgain(h protocol.Header, body []byte) {
	c.server.metrics.requests[h.Opcode].Add(1)
	var decoder protocol.Requests
	m, err := decoder.Decode(h, body)
	if err != nil {
		c.refuse(h.Stream, err)
		return
	}
	switch m := m.(type) {
	case *protocol.Startup:
		c.startup(h, m)
	case *protocol.Options:
		c.out.append(h.Stream, nil, supported)
	default:
		c.refuse(h.Stream, unexpected(h.Opcode))
	}
}
