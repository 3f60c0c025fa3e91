package server

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store/pace"
)

// request is one request from its body to its answer. The structs are used again, and with them the slices
// in them, so that an EXECUTE costs no memory of ours.
//
// Two hold a request: who runs it and who answers it. Often they are one goroutine, but a write is answered
// by the store.
type request struct {
	conn    *conn
	header  protocol.Header
	size    int64 // of the body; for a BATCH that of the decoded message, about
	charge  int64 // what it has of the budgets of bytes in flight: size, or more
	heavy   int64 // what it holds of the room for large writes
	decoder protocol.Requests
	message protocol.Request // of decoder; aliases the body
	copied  []byte           // the body, if the request outlives the read buffer

	statement *statement // of QUERY and EXECUTE, once it is known
	single    exec.Request
	batch     exec.BatchRequest
	turn      pace.Turn // that it reads on, if that may take long
	write     writing
	began     time.Duration       // when it arrived: conn.arrived
	latency   prometheus.Observer // counts how long its statement took; nil until it is executed

	prefix     protocol.Prefix
	trace      *trace
	rows       protocol.Rows
	aside      bool       // it is served by a goroutine of its own
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

// batchWeight is how many times its body a BATCH is decoded to, about.
const batchWeight = 4

// measuredBody is the size of a body from which on the budgets count what it is decoded to.
const measuredBody = 4 << 10

// ownBody is the largest body that is copied by a request which outlives the read buffer. Larger ones own their memory.
const ownBody = 256 << 10

func newRequest(c *conn, h protocol.Header, body []byte) *request {
	r := requestPool.Get().(*request)
	if r.done == nil {
		r.done = r.finish // made once for each struct
	}
	r.conn, r.header, r.size = c, h, int64(len(body))
	if h.Opcode == protocol.OpBatch {
		r.size *= batchWeight
	}
	if r.charge = r.size; len(body) > measuredBody {
		r.charge = max(r.charge, protocol.DecodedSize(h, body))
	}
	r.began = c.arrived
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
	if r.heavy > 0 {
		c.server.memory.writes.Give(r.heavy)
		r.heavy = 0
	}
	if !r.overloaded {
		c.giveBytes(r.charge)
	}
	r.conn, r.message, r.statement, r.trace, r.latency = nil, nil, nil, nil, nil
	r.single, r.write = exec.Request{}, writing{}
	r.batch = exec.BatchRequest{Children: r.batch.Children[:0]}
	r.prefix = protocol.Prefix{Warnings: r.prefix.Warnings[:0]}
	r.rows = protocol.Rows{}
	r.aside, r.skip, r.prepared, r.overloaded, r.expected = false, false, false, false, preparedID{}
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

// detach returns a body that outlives the read buffer.
func (r *request) detach(body []byte) []byte {
	if len(body) > ownBody {
		return body
	}
	r.copied = append(r.copied[:0], body...)
	return r.copied
}

// context is what bounds the execution. Reads end with their connection; writes that have arrived are done.
func (r *request) context() context.Context {
	if st := r.statement; st != nil && !st.plan.Modifies && !st.plan.Definition {
		return r.conn.ctx
	}
	return r.conn.server.ctx
}

// consistency is the level that the request asks for.
func (r *request) consistency() cqlerr.Consistency {
	if _, ok := r.message.(*protocol.Batch); ok {
		return r.batch.Consistency
	}
	return r.single.Consistency
}

// warn adds warnings to the answer.
func (r *request) warn(warnings ...string) {
	r.prefix.Warnings = append(r.prefix.Warnings, warnings...)
}

// answer sends the answer. It is called once, or else fail or finish.
func (r *request) answer(m protocol.Response) {
	if r.write.kind != "" {
		r.conn.writes.remove(r)
	}
	if !r.answered.CompareAndSwap(false, true) {
		if r.write.late {
			r.release()
			return
		}
		r.conn.log.Error().Stringer("opcode", r.header.Opcode).Msg("a request was answered twice")
		return
	}
	defer r.release()
	r.observe()
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
