package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/protocol"
)

// request is one request from its body to its answer. The structs are used again, and with them the slices
// in them, so that an EXECUTE costs no memory of ours.
//
// Two hold a request: who runs it and who answers it. Often they are one goroutine, but a write is answered
// by the store.
type request struct {
	conn    *conn
	header  protocol.Header
	size    int64 // of the body
	decoder protocol.Requests
	message protocol.Request // of decoder; aliases the body
	copied  []byte           // the body, if the request outlives the read buffer

	statement *statement // of QUERY and EXECUTE, once it is known
	single    exec.Request
	batch     exec.BatchRequest

	prefix     protocol.Prefix
	trace      *trace
	rows       protocol.Rows
	skip       bool       // the client asked for rows without columns
	prepared   bool       // EXECUTE
	expected   preparedID // result columns that the client knows; v5
	done       func(exec.Result, error)
	holders    atomic.Int32
	answered   atomic.Bool
	overloaded bool // it holds no part of the budgets
}

var requestPool = sync.Pool{New: func() any { return new(request) }}

// keepBody is the largest copied body that is kept for the next request.
const keepBody = 64 << 10

func newRequest(c *conn, h protocol.Header, body []byte) *request {
	r := requestPool.Get().(*request)
	if r.done == nil {
		r.done = r.finish // made once for each struct
	}
	r.conn, r.header, r.size = c, h, int64(len(body))
	r.holders.Store(2)
	r.answered.Store(false)
	c.requests.Add(1)
	return r
}

// release is called by each of the two holders when it is through.
func (r *request) release() {
	if r.holders.Add(-1) > 0 {
		return
	}
	c := r.conn
	if !r.overloaded {
		c.bytes.give(r.size)
		c.server.bytes.give(r.size)
	}
	r.conn, r.message, r.statement, r.trace = nil, nil, nil, nil
	r.single = exec.Request{}
	r.batch = exec.BatchRequest{Children: r.batch.Children[:0]}
	r.prefix = protocol.Prefix{Warnings: r.prefix.Warnings[:0]}
	r.rows = protocol.Rows{}
	r.skip, r.prepared, r.overloaded, r.expected = false, false, false, preparedID{}
	if cap(r.copied) > keepBody {
		r.copied = nil
	}
	requestPool.Put(r)
	c.requests.Done()
}

// decode decodes the request from a body, which it aliases.
func (r *request) decode(body []byte) (err error) {
	if r.message, err = r.decoder.Decode(r.header, body); err != nil {
		return err
	}
	var p *protocol.QueryParameters
	switch m := r.message.(type) {
	case *protocol.Query:
		p = &m.Parameters
	case *protocol.Execute:
		p = &m.Parameters
	case *protocol.Batch:
		p = &m.Parameters
	default:
		return nil
	}
	return exec.CheckPagingState(p.PagingState, int(r.header.Version))
}

// detach copies the body, so that the request can outlive the read buffer.
func (r *request) detach(body []byte) error {
	r.copied = append(r.copied[:0], body...)
	return r.decode(r.copied)
}

// context is what bounds the execution. Reads end with their connection; writes that have arrived are done.
func (r *request) context() context.Context {
	if st := r.statement; st != nil && !st.plan.Modifies && !st.plan.Definition {
		return r.conn.ctx
	}
	return r.conn.server.ctx
}

// warn adds warnings to the answer.
func (r *request) warn(warnings ...string) {
	r.prefix.Warnings = append(r.prefix.Warnings, warnings...)
}

// answer sends the answer. It is called once, or else fail or finish.
func (r *request) answer(m protocol.Response) {
	if !r.answered.CompareAndSwap(false, true) {
		r.conn.log.Error().Stringer("opcode", r.header.Opcode).Msg("a request was answered twice")
		return
	}
	defer r.release()
	r.send(m)
}

// fail answers with an error.
func (r *request) fail(err error) {
	if errors.Is(err, ErrHangUp) {
		r.conn.abort()
		err = errAbandoned // nobody will read it
	}
	r.answer(r.conn.errorMessage(err))
}

// send writes a message with what stands before it.
func (r *request) send(m protocol.Response) {
	var p *protocol.Prefix
	if r.trace != nil {
		r.trace.start()
		r.prefix.Traced, r.prefix.TracingID = true, r.trace.id
	}
	if r.prefix.Traced || len(r.prefix.Warnings) > 0 {
		p = &r.prefix
	}
	r.conn.out.append(r.header.Stream, p, m)
}

// finish answers with what an execution came to; exec calls it, from a goroutine of the store's perhaps.
func (r *request) finish(result exec.Result, err error) {
	defer r.answerPanic()
	if err != nil {
		if warned, ok := result.(*exec.Void); ok {
			r.warn(warned.Warnings...)
		}
		r.fail(err)
		return
	}
	r.answer(r.resultMessage(result))
}

// run runs the request and answers what it panics with.
func (r *request) run(serve func(*request)) {
	defer r.release()
	defer r.answerPanic()
	serve(r)
}

// answerPanic is deferred where a request is served: it ends a panic and answers it.
func (r *request) answerPanic() {
	p := recover()
	if p == nil {
		return
	}
	if err := r.conn.panicked(p); !r.answered.Load() {
		r.fail(err)
	}
}

// takeBytes makes room for the request in the budgets of bytes in flight. It waits, and meanwhile nothing is
// read from the connection, unless the client said in STARTUP that it prefers an error.
func (c *conn) takeBytes(n int64) error {
	all := &c.server.bytes
	if c.bytes.tryTake(n) {
		if all.tryTake(n) {
			return nil
		}
		c.bytes.give(n)
	}
	if c.session.throwOverload {
		return cqlerr.Overloadedf("Request breached limit on bytes in flight. (%s)Server is currently in an "+
			"overloaded state and cannot accept more requests.",
			fmt.Sprintf("Endpoint: %d/%d bytes, Global: %d/%d bytes.", c.bytes.used.Load(), c.bytes.limit,
				all.used.Load(), all.limit))
	}
	c.out.idle()
	defer c.out.busy()
	if err := c.bytes.take(c.ctx, n); err != nil {
		return err
	}
	if err := all.take(c.ctx, n); err != nil {
		c.bytes.give(n)
		return err
	}
	return nil
}

// takeSlot waits until the connection may have another goroutine.
func (c *conn) takeSlot() error {
	if c.slots.tryTake(1) {
		return nil
	}
	c.out.idle()
	defer c.out.busy()
	return c.slots.take(c.ctx, 1)
}
