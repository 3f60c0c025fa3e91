package server

import (
	"runtime"
	"time"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/trace"
	"github.com/cqld/cqld/store/pace"
)

// handler serves a kind of request.
type handler struct {
	// inReader reports whether the reader may serve the request: serving takes little time and never waits. nil:
	// always.
	inReader func(*request) bool

	// serve answers the request, now or later, exactly once.
	serve func(*request)
}

// handlers has the handler of each opcode on a connection that is ready.
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
		r.charge = 0
		r.refuse(err)
		return nil
	}
	if waited {
		r.warnAboutBytes()
	}
	if c.server.throttle != nil {
		if err := r.keepToRate(c.server.throttle); err != nil {
			r.refuse(err)
			return nil
		}
	}
	mayWait := c.mayWait()
	if h.Opcode == protocol.OpBatch && len(body) > longBatch && !mayWait {
		c.errors = 0
		c.serveLong(r, body)
		return nil
	}
	if err := r.decode(body); err != nil {
		r.refuse(err)
		return c.countError()
	}
	c.errors = 0
	if h.Flags.Has(protocol.FlagTracing) && h.Opcode.Traceable() {
		r.trace = trace.Start(c.server.store, c.server.uuids)
	}
	by := &handlers[h.Opcode]
	switch {
	case mayWait && h.Opcode.Traceable() || by.inReader != nil && !by.inReader(r):
		c.serveDetached(r, body, by.serve)
	case r.statement != nil && r.statement.Reads:
		c.serveRead(r, body, by.serve)
	case r.statement != nil && r.statement.Writes == exec.Conditional:
		// The store compares the values when the turn of the write comes: they outlive the read buffer.
		if err := r.decode(r.detach(body)); err != nil {
			r.refuse(err)
			return nil
		}
		r.run(by.serve)
	default:
		r.run(by.serve)
	}
	return nil
}

// refuse answers with an error before the request was served.
func (r *request) refuse(err error) { r.run(func(r *request) { r.fail(err) }) }

// mayWait reports whether requests may have to wait where the reader must not: for an inspector, or for
// nodes that are slow.
func (c *conn) mayWait() bool { return c.server.inspector.Load() != nil || c.node.slowed() }

// The reader executes a read with a budget: to hand it to a goroutine that waits for a turn often takes longer than to
// read a few rows.
const (
	// readerSteps is how many steps the turn of such a read has.
	readerSteps = 16

	// readerTime is the most time that such a read takes. Steps take less, unless the engine looks long for a row or
	// other processes have the processor.
	readerTime = 10 * time.Millisecond

	// readerBody is the longest body of a request whose read the reader executes: long values take time to compare.
	readerBody = 16 << 10

	// messageTime is about the time that one of giveWayAfter messages takes.
	messageTime = 8 * time.Microsecond
)

// serveRead executes a read on the reader. If its budget is spent, a goroutine begins the read again, on a turn:
// nothing was sent yet.
func (c *conn) serveRead(r *request, body []byte, serve func(*request)) {
	began := monotonic()
	r.try(serve)
	took := monotonic() - began
	c.heldUp = c.heldUp || took > readerTime
	c.stretch.messages += int(took / messageTime)
	c.stretch.bytes += int64(len(r.rows.Cells))
	if r.stage != overBudget {
		r.release()
		return
	}
	r.guard, r.work, r.single = guardrail.Check{}, exec.Work{}, exec.Request{}
	c.serveDetached(r, body, serve)
}

// serveDetached copies a request out of the read buffer and serves it in a goroutine.
func (c *conn) serveDetached(r *request, body []byte, serve func(*request)) {
	if err := r.decode(r.detach(body)); err != nil {
		r.refuse(err)
		return
	}
	c.serveInGoroutine(r, func(r *request) {
		c.listed.add(r)
		if lag := c.node.lag(); lag > 0 && r.header.Opcode.Traceable() {
			if err := pace.Sleep(c.ctx, lag); err != nil {
				r.fail(err)
				return
			}
		}
		if err := r.inspect(); err != nil {
			r.fail(err)
			return
		}
		serve(r)
	})
}

// serveLong serves a long BATCH on a turn, which also covers the decoding: the decoded message is much larger than its
// body.
func (c *conn) serveLong(r *request, body []byte) {
	body = r.detach(body)
	c.serveInGoroutine(r, func(r *request) {
		kind := "BATCH"
		if err := r.startLargeWrite(kind); err != nil {
			r.fail(err)
			return
		}
		if err := r.beginTurn(c.server.ctx, c.server.limits.WriteTimeout); err != nil {
			r.fail(r.notBegun(err, kind))
			return
		}
		defer r.turn.End()
		if err := r.decode(body); err != nil {
			r.fail(err)
			return
		}
		c.listed.add(r)
		if r.header.Flags.Has(protocol.FlagTracing) {
			r.trace = trace.Start(c.server.store, c.server.uuids)
		}
		batch(r)
	})
}

// serveInGoroutine serves a request, which must not use the read buffer, in a goroutine.
func (c *conn) serveInGoroutine(r *request, serve func(*request)) {
	if err := c.takeGoroutine(); err != nil {
		r.refuse(err)
		return
	}
	r.stage = inGoroutine
	go func() {
		defer panics.Recover(&c.log)
		growStack()
		defer c.giveGoroutine()
		r.run(serve)
	}()
}

// growStack gives the goroutine the stack that most requests need. Otherwise it is copied several times while it
// grows, with ever more frames on it.
//
//go:noinline
func growStack() {
	var room [stackRoom]byte
	runtime.KeepAlive(&room)
}

const stackRoom = 6 << 10
