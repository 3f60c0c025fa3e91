package server

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/planner/exec/paging"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store/pace"
)

// request is one request from its body to its answer. The structs are reused with their slices, so that an EXECUTE
// allocates nothing here.
//
// A request has two holders: the goroutine that runs it and the one that answers it. Often they are the same, but
// writes are answered by a goroutine of the store.
type request struct {
	conn       *conn
	header     protocol.Header
	size       int64 // of the body, or about that of the decoded message for a BATCH
	charge     int64 // that it takes of the bytes in flight: size, or more
	largeWrite int64 // bytes that it takes of memory.largeWrites
	decoder    protocol.Requests
	message    protocol.Request // of decoder; aliases the body
	copied     []byte           // the body, if the request outlives the read buffer

	statement  *statement // of QUERY and EXECUTE, once it is known
	single     exec.Request
	batch      exec.BatchRequest
	children   []*statement  // of BATCH, where clients log in
	paging     *paging.State // nil: the request has none
	turn       pace.Turn     // that it runs on, if it may take long
	write      pendingWrite
	guard      guardrail.Check // for clients that are subject to guardrails
	place      detachedRequest
	decision   exec.Decision // of a conditional write
	began      time.Duration // when it arrived: conn.arrived
	briefUntil time.Duration // when its turn ends, if that is brief: on the same clock
	latency    *histogram    // of its statement; nil until it is executed
	work       exec.Work     // what the execution went over

	said       said
	inspection *inspection // nil: nobody looks at it
	prefix     protocol.Prefix
	trace      *trace
	rows       protocol.Rows
	detached   bool       // it has a goroutine of its own
	long       bool       // its turn was brief and is over: it has to begin again
	skip       bool       // the client asked for rows without metadata
	prepared   bool       // EXECUTE
	decides    bool       // BATCH with conditions
	roles      bool       // it writes to the tables that have the roles
	expected   preparedID // of the result columns that the client knows (v5)
	done       func(exec.Result, error)
	holders    atomic.Int32
	answered   atomic.Bool
	overloaded bool // it takes nothing of the bytes in flight
}

var requestPool = sync.Pool{New: func() any { return new(request) }}

// keepBody is the largest copied body that is kept for the next request.
const keepBody = 64 << 10

// batchWeight is about how many times larger than its body a decoded BATCH is.
const batchWeight = 4

// measuredBody is the size of a body above which the bytes in flight count what it is decoded to.
const measuredBody = 4 << 10

// ownBody is the size above which a request takes over the read buffer with its body, instead of copying the body.
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

// release is called by each of the two holders when it is done.
func (r *request) release() {
	if r.holders.Add(-1) > 0 {
		return
	}
	c := r.conn
	if r.place.listed {
		c.detached.remove(r)
	}
	if r.largeWrite > 0 {
		c.server.memory.largeWrites.Give(r.largeWrite)
		r.largeWrite = 0
	}
	if !r.overloaded {
		c.giveBytes(r.charge)
	}
	r.conn, r.message, r.statement, r.paging, r.trace, r.latency = nil, nil, nil, nil, nil, nil
	r.single, r.write, r.decision, r.work = exec.Request{}, pendingWrite{}, exec.Decision{}, exec.Work{}
	r.guard = guardrail.Check{}
	r.batch = exec.BatchRequest{Children: r.batch.Children[:0]}
	clear(r.children)
	r.children = r.children[:0]
	r.prefix = protocol.Prefix{Warnings: r.prefix.Warnings[:0]}
	r.rows, r.said, r.inspection = protocol.Rows{}, said{}, nil
	r.detached, r.skip, r.prepared, r.decides, r.overloaded, r.expected = false, false, false, false, false, preparedID{}
	r.roles = false
	if cap(r.copied) > keepBody {
		r.copied = nil
	}
	requestPool.Put(r)
	c.requests.Done()
}

// decode decodes the request from a body, which it aliases. It copies the paging state and decodes it the first time:
// Cassandra refuses requests with a wrong one whatever they are, also those without pages.
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
	if p.PagingState == nil || r.paging != nil {
		return nil
	}
	r.paging, err = paging.Decode(bytes.Clone(p.PagingState), int(r.header.Version))
	return err
}

// detach returns a body that stays valid when the read buffer is reused.
func (r *request) detach(body []byte) []byte {
	if len(body) > ownBody {
		return body
	}
	r.copied = append(r.copied[:0], body...)
	return r.copied
}

// outlivesInput reports whether what is bound has to stay valid after the reader has run the request: the store
// compares it when the turn of a conditional write comes.
func (r *request) outlivesInput() bool {
	return r.decides || r.statement != nil && r.statement.writes == exec.Conditional
}

// context bounds the execution. Reads end with their connection. Writes do not: once they have arrived, they are done.
func (r *request) context() context.Context {
	if st := r.statement; st != nil && !st.plan.Modifies && !st.plan.Definition {
		return r.conn.ctx
	}
	return r.conn.server.ctx
}

// consistency is the consistency level of the request.
func (r *request) consistency() cqlerr.Consistency {
	if _, ok := r.message.(*protocol.Batch); ok {
		return r.batch.Consistency
	}
	return r.single.Consistency
}

// serialLevel is the serial consistency level of the request.
func (r *request) serialLevel() cqlerr.Consistency {
	if _, ok := r.message.(*protocol.Batch); ok {
		return r.batch.SerialConsistency
	}
	return r.single.SerialConsistency
}

// warn adds warnings to the answer.
func (r *request) warn(warnings ...string) {
	r.prefix.Warnings = append(r.prefix.Warnings, warnings...)
}

// answer sends the answer. Each request calls answer, fail or finish once.
func (r *request) answer(m protocol.Response) {
	if r.write.kind != "" {
		r.conn.pendingWrites.remove(r)
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
	if r.inspection != nil {
		m = r.inspectAnswer(m)
	}
	if recent := r.conn.server.recent; recent != nil {
		recent.add(r, m)
	}
	if m != nil {
		r.send(m)
	}
}

// fail answers with an error.
func (r *request) fail(err error) {
	if errors.Is(err, ErrHangUp) {
		r.conn.abort()
		err = errAbandoned // the client does not get it
	}
	r.answer(r.conn.errorMessage(err))
}

// send writes a message, with the tracing id and warnings before it.
func (r *request) send(m protocol.Response) {
	var p *protocol.Prefix
	if r.trace != nil {
		r.trace.start()
		r.prefix.Traced, r.prefix.TracingID = true, r.trace.id
	}
	if len(r.guard.Warnings) > 0 {
		r.prefix.Warnings = append(r.guard.Warnings, r.prefix.Warnings...)
	}
	if r.prefix.Traced || len(r.prefix.Warnings) > 0 || len(r.prefix.Payload) > 0 {
		p = &r.prefix
	}
	r.conn.out.append(r.header.Stream, p, m)
}

// guarded returns what applies guardrails to the request; nil: its client is not subject to them, as superusers are not
// and nobody is where nobody logs in, unless the settings say that all are.
func (r *request) guarded() *guardrail.Check {
	if s := r.conn.server.settings; s.ApplyToAll || !r.conn.session.superuser() {
		r.guard.Settings = s
		return &r.guard
	}
	return nil
}

// finish answers with the result of an execution. exec calls it, perhaps from a goroutine of the store.
func (r *request) finish(result exec.Result, err error) {
	defer r.answerPanic()
	if r.roles {
		r.conn.server.roles.Changed()
	}
	if err != nil {
		if errors.Is(err, pace.ErrLong) && !r.detached {
			r.long = true
			return
		}
		if warned, ok := result.(*exec.Void); ok {
			r.warn(warned.Warnings...)
		}
		r.fail(err)
		return
	}
	r.countWork()
	r.traceRead()
	r.answer(r.resultMessage(result))
}

// run serves the request, and answers if that panics.
func (r *request) run(serve func(*request)) {
	defer r.release()
	defer r.answerPanic()
	serve(r)
}

// answerPanic is deferred where a request is served. It recovers from a panic and answers with an error.
func (r *request) answerPanic() {
	p := recover()
	if p == nil {
		return
	}
	if err := r.conn.panicked(p); !r.answered.Load() {
		r.fail(err)
	}
}
