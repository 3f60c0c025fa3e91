package server

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/planner/exec/paging"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/observe"
	"github.com/cqld/cqld/server/statements"
	"github.com/cqld/cqld/server/trace"
	"github.com/cqld/cqld/store/pace"
)

// request is one request from its body to its answer. The structs are reused with their slices, so that an EXECUTE
// allocates nothing here.
//
// A request has two holders: the goroutine that executes it and the one that answers it. Often they are the same, but
// writes are answered by a goroutine of the store.
type request struct {
	conn       *conn
	header     protocol.Header
	size       int64 // of the body, or about that of the decoded message for a BATCH
	charge     int64 // its share of the bytes in flight: size, or more
	largeWrite int64 // its share of memory.largeWrites
	decoder    protocol.Requests
	message    protocol.Request // of decoder; aliases the body
	copied     []byte           // the body, if the request outlives the read buffer

	stage     stage
	statement *statements.Statement // of QUERY and EXECUTE, once it is known
	single    exec.Request
	batch     exec.BatchRequest
	children  []*statements.Statement // of BATCH, where clients log in
	paging    *paging.State           // nil: the request has none
	turn      pace.Turn               // of a read, or of work that may take long
	write     pendingWrite
	listed    listedRequest
	guard     guardrail.Check // for clients that are subject to guardrails
	decision  exec.Decision   // of a conditional write
	began     time.Duration   // when it arrived: conn.arrived
	latency   *observe.Histogram
	work      exec.Work // rows, tombstones and partitions that the execution counted

	recent     recentParts
	inspection *inspection // nil: no inspector sees it
	prefix     protocol.Prefix
	trace      *trace.Trace // nil: it is not traced
	rows       protocol.Rows
	roles      bool // it writes to the tables of roles
	done       func(exec.Result, error)
	holders    atomic.Int32
	answered   atomic.Bool
}

// stage is the goroutine that serves a request.
type stage uint8

const (
	inReader    stage = iota // the reader of the connection
	overBudget               // the reader has stopped a read; a goroutine begins it again
	inGoroutine              // a goroutine of the request
)

var requestPool = sync.Pool{New: func() any { return new(request) }}

// keepBody is the largest copied body that is kept for the next request.
const keepBody = 64 << 10

// batchWeight is about how many times larger than its body a decoded BATCH is.
const batchWeight = 4

// measuredBody is the size of a body above which the bytes in flight count the decoded message.
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
	c.listed.remove(r)
	if r.largeWrite > 0 {
		c.server.memory.largeWrites.Give(r.largeWrite)
	}
	if r.charge > 0 {
		c.giveBytes(r.charge)
	}
	r.conn, r.message, r.statement, r.paging, r.trace, r.latency = nil, nil, nil, nil, nil, nil
	r.largeWrite, r.stage, r.roles = 0, inReader, false
	r.single, r.write, r.decision = exec.Request{}, pendingWrite{}, exec.Decision{}
	r.work, r.guard = exec.Work{}, guardrail.Check{}
	r.batch = exec.BatchRequest{Children: r.batch.Children[:0]}
	clear(r.children)
	r.children = r.children[:0]
	r.prefix = protocol.Prefix{Warnings: r.prefix.Warnings[:0]}
	r.rows, r.recent, r.inspection = protocol.Rows{}, recentParts{}, nil
	if cap(r.copied) > keepBody {
		r.copied = nil
	}
	requestPool.Put(r)
	c.requests.Done()
}

// decode decodes the request from a body, which it aliases. It copies the paging state and decodes it the first time:
// Cassandra refuses every request with a wrong one, also a request whose result has no pages.
func (r *request) decode(body []byte) (err error) {
	if r.message, err = r.decoder.Decode(r.header, body); err != nil {
		return err
	}
	if p := r.parameters(); p != nil && p.PagingState != nil && r.paging == nil {
		r.paging, err = paging.Decode(bytes.Clone(p.PagingState), int(r.header.Version))
	}
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

// parameters are the parameters of a QUERY, EXECUTE or BATCH; nil: the request is another one.
func (r *request) parameters() *protocol.QueryParameters {
	switch m := r.message.(type) {
	case *protocol.Query:
		return &m.Parameters
	case *protocol.Execute:
		return &m.Parameters
	case *protocol.Batch:
		return &m.Parameters
	}
	return nil
}

// texts are the texts of a request.
func (r *request) texts() []string {
	switch m := r.message.(type) {
	case *protocol.Query:
		return []string{m.Query}
	case *protocol.Prepare:
		return []string{m.Query}
	case *protocol.Execute:
		return []string{r.conn.node.prepared.Text(m.ID)}
	case *protocol.Batch:
		texts := make([]string, len(m.Children))
		for i, child := range m.Children {
			texts[i] = child.Query
			if child.Prepared {
				texts[i] = r.conn.node.prepared.Text(child.ID)
			}
		}
		return texts
	}
	return nil
}

// context bounds the execution. Reads end with their connection. Writes do not: once they have arrived, they are done.
func (r *request) context() context.Context {
	if st := r.statement; st != nil && !st.Plan.Modifies && !st.Plan.Definition {
		return r.conn.ctx
	}
	return r.conn.server.ctx
}

// warn adds warnings to the answer.
func (r *request) warn(warnings ...string) {
	r.prefix.Warnings = append(r.prefix.Warnings, warnings...)
}

// guarded returns the check that applies guardrails to the request. It is nil for superusers, and for all clients
// where there are no logins, unless the settings apply guardrails to all.
func (r *request) guarded() *guardrail.Check {
	if s := r.conn.server.settings; s.ApplyToAll || !r.conn.session.superuser() {
		r.guard.Settings = s
		return &r.guard
	}
	return nil
}

// run serves the request, and answers with an error if that panics.
func (r *request) run(serve func(*request)) {
	defer r.release()
	r.try(serve)
}

// try is run without the release.
func (r *request) try(serve func(*request)) {
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

// finish answers with the result of an execution. exec calls it, perhaps from a goroutine of the store.
func (r *request) finish(result exec.Result, err error) {
	defer r.answerPanic()
	if r.roles {
		r.conn.server.roles.Changed()
	}
	switch {
	case err == nil:
		r.countWork()
		if r.trace != nil && r.statement != nil && r.statement.Reads {
			r.trace.Read(r.statement.Plan.Plan)
		}
		r.answer(r.resultMessage(result))
	case errors.Is(err, pace.ErrBudget):
		r.stage = overBudget
	default:
		if void, ok := result.(*exec.Void); ok {
			r.warn(void.Warnings...)
		}
		r.fail(err)
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

// send writes a message, with the tracing id and warnings before it.
func (r *request) send(m protocol.Response) {
	var p *protocol.Prefix
	if t, c := r.trace, r.conn; t != nil {
		t.End()
		// The caller may be a goroutine of the store, which must not wait for the store.
		c.requests.Go(func() {
			panics.Run(&c.log, func() { t.Write(c.local.Addr(), c.remote.Addr(), c.log) })
		})
		r.prefix.Traced, r.prefix.TracingID = true, r.trace.ID
	}
	if len(r.guard.Warnings) > 0 {
		r.prefix.Warnings = append(r.guard.Warnings, r.prefix.Warnings...)
	}
	if r.prefix.Traced || len(r.prefix.Warnings) > 0 || len(r.prefix.Payload) > 0 {
		p = &r.prefix
	}
	r.conn.out.Append(r.header.Stream, p, m)
}

// countWork counts the rows and tombstones of a read, and the partitions of a batch.
func (r *request) countWork() {
	switch {
	case r.work.Read:
		if r.statement != nil && r.statement.Amounts != nil {
			r.statement.Amounts.Rows.Observe(r.work.Rows)
			r.statement.Amounts.Tombstones.Observe(r.work.Tombstones)
		}
	case r.work.Partitions > 0:
		r.conn.server.batches[r.work.Batch].Observe(r.work.Partitions)
	}
}

// observe counts the time that the request's statement took, if it was executed. Reads that the reader serves are
// answered when the burst is over, so they have the time of that; but a read that the reader itself waited for began
// before the burst.
func (r *request) observe() {
	c := r.conn
	switch {
	case r.latency == nil:
	case r.stage == inReader && r.statement != nil && r.statement.Reads && r.began == c.arrived:
		c.burst = append(c.burst, r.latency)
		if len(c.burst) == maxBurst {
			c.observeBurst()
		}
	default:
		r.latency.Observe(monotonic() - r.began)
	}
}

// listedRequests are the requests of a connection that have or had a goroutine, until they are answered.
type listedRequests struct {
	mu    sync.Mutex
	first *request
}

// listedRequest is the place of a request among them.
type listedRequest struct {
	linked     bool
	prev, next *request
}

// add adds a request, whose message does not change any more.
func (l *listedRequests) add(r *request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.listed = listedRequest{linked: true, next: l.first}
	if l.first != nil {
		l.first.listed.prev = r
	}
	l.first = r
}

// remove takes out a request before its message is reused.
func (l *listedRequests) remove(r *request) {
	if !r.listed.linked {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	prev, next := r.listed.prev, r.listed.next
	if prev == nil {
		l.first = next
	} else {
		prev.listed.next = next
	}
	if next != nil {
		next.listed.prev = prev
	}
	r.listed = listedRequest{}
}
