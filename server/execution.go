package server

import (
	"context"
	"errors"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/planner/exec/ring"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/statements"
	"github.com/cqld/cqld/store/pace"
)

// execute executes the request's statement. exec calls request.finish with the result.
func (r *request) execute(values []types.Value, p *protocol.QueryParameters) {
	s, st := r.conn.server, r.statement
	r.latency = st.Latency
	if r.trace != nil {
		if r.header.Opcode == protocol.OpExecute {
			r.trace.Values(st.Plan.Markers, values)
		}
		r.trace.Execute(st.Plan.Plan)
	}
	r.single = exec.Request{Prepared: st.Plan, Values: values, Options: r.options(p, s.timeout(st))}
	s.recent.note(r)
	if s.roles != nil {
		if err := r.authorize(&r.single.Options, st); err != nil {
			r.fail(err)
			return
		}
	}
	if st.Writes != "" && r.size > largeWrite {
		if err := r.startLargeWrite(st.Writes); err != nil {
			r.fail(err)
			return
		}
	}
	switch {
	case st.Reads && r.stage == inReader:
		r.turn.BeginWithBudget(r.conn.ctx, s.scheduler, readerSteps, time.Now().Add(readerTime))
		defer r.turn.End()
		r.single.Turn = &r.turn
	case r.needsTurn():
		if err := r.beginTurn(r.context(), s.timeout(st)); err != nil {
			r.fail(r.notBegun(err, st.Writes))
			return
		}
		defer r.turn.End()
		r.single.Turn = &r.turn
	}
	switch {
	case st.Writes == exec.Conditional:
		r.single.Decision = r.startDecision()
		r.conn.pendingWrites.add(r, st.Writes)
	case st.Writes != "":
		r.conn.pendingWrites.add(r, st.Writes)
	case st.Truncates:
		r.conn.pendingWrites.add(r, truncation)
	}
	s.exec.Execute(r.context(), &r.single, r.done)
}

// bind returns the values of markers, in the order of the markers. Names choose among the values, and other values are
// ignored. If a value is missing, there are fewer values than markers.
func bind(markers []planner.Marker, p *protocol.QueryParameters) []types.Value {
	if len(p.Names) == 0 {
		return p.Values
	}
	values := make([]types.Value, 0, len(markers))
	for _, m := range markers {
		for i, name := range p.Names {
			if name == m.Name {
				values = append(values, p.Values[i])
				break
			}
		}
	}
	return values
}

// options are the parameters of a request in the form that exec has. timeout is the time that the request may take.
func (r *request) options(p *protocol.QueryParameters, timeout time.Duration) exec.Options {
	o := exec.Options{
		Consistency:       p.Consistency,
		SerialConsistency: p.SerialConsistency,
		PageSize:          int(p.PageSize),
		PagingState:       r.paging,
		Timestamp:         p.Timestamp,
		HasTimestamp:      p.Flags.Has(protocol.WithTimestamp),
		Now:               int64(uint32(p.NowInSeconds)), // Cassandra's seconds have no sign
		HasNow:            p.Flags.Has(protocol.WithNow),
		Version:           int(r.conn.session.version),
		Session:           r.conn.storeSession(),
		Keyspace:          r.conn.session.currentKeyspace(),
		Guard:             r.guarded(),
		Work:              &r.work,
	}
	if r.trace != nil {
		o.Touched = &r.trace.Touched
	}
	if r.inspection != nil {
		o.Touched = r.inspection.touched
	}
	if view := r.conn.node.view.Load(); view != nil {
		r.coordinate(&o, view, timeout)
	}
	return o
}

// coordinate sets the node's view of the ring. The reader does not wait for slow nodes: a node that has become slow
// since the reader began the request is as fast as before.
func (r *request) coordinate(o *exec.Options, view *ring.View, timeout time.Duration) {
	if view.Delay != nil && r.stage == inReader {
		fast := *view
		fast.Delay = nil
		view = &fast
	}
	o.View, o.Timeout = view, timeout
	if view.Delay != nil {
		o.Sleep = r.sleep
	}
}

// sleep waits for slow nodes. Meanwhile another turn runs, and the watchdog does not look at the request: its time is
// counted here.
func (r *request) sleep(d time.Duration) error {
	r.conn.pendingWrites.remove(r)
	return r.turn.Sleep(r.conn.ctx, d)
}

// runsInReader reports whether the reader may execute a statement of the request: a write that is not large, or a read
// without a trace, which must not have the same steps twice.
func (r *request) runsInReader(st *statements.Statement) bool {
	if st.Reads {
		return st.Quick && r.size <= readerBody && r.trace == nil && !r.conn.heldUp
	}
	return r.isQuickWrite(st) && (st.Writes == "" || !r.waitsForTimestamp())
}

func (r *request) isQuickWrite(st *statements.Statement) bool {
	return st.Quick && r.size <= largeWrite
}

// waitsForTimestamp reports whether a write of the request may wait for the clock that servers of a cluster share.
func (r *request) waitsForTimestamp() bool {
	p := r.parameters()
	return (p == nil || !p.Flags.Has(protocol.WithTimestamp)) && r.conn.server.store.TimestampWaits()
}

// needsTurn reports whether the request's statement is executed on a turn: it may take long. The reader has no turns,
// because it must not wait for them. Changes of counters and conditional writes, which wait for each other, have one
// only to compute values that take long: they do not yield while others wait for them.
func (r *request) needsTurn() bool {
	switch st := r.statement; {
	case r.stage == inReader:
		return false
	case st.Writes == exec.Conditional, st.Writes == exec.Counter.WriteType():
		return st.Costly
	case st.Writes != "":
		return st.ManyWrites || !r.isQuickWrite(st)
	default:
		return st.Reads
	}
}

// beginTurn waits for the turn of the request. The caller has to end it.
func (r *request) beginTurn(ctx context.Context, timeout time.Duration) error {
	return r.turn.Begin(ctx, r.conn.server.scheduler, &r.conn.turns, time.Now().Add(timeout))
}

// notBegun is the error of a request whose turn could not begin. kind is its write type for errors; "": it reads.
func (r *request) notBegun(err error, kind string) error {
	if !errors.Is(err, pace.ErrTimeout) {
		return err
	}
	var p protocol.QueryParameters // of a BATCH that is not decoded yet
	if decoded := r.parameters(); decoded != nil {
		p = *decoded
	}
	switch kind {
	case exec.Conditional:
		return cqlerr.CASTimedOut(p.SerialConsistency, 0)
	case "":
		return cqlerr.ReadTimedOut(p.Consistency)
	}
	return cqlerr.WriteUnknown(p.Consistency, kind)
}

// timeout is how long a statement may take.
func (s *Server) timeout(st *statements.Statement) time.Duration {
	switch {
	case st.Writes != "":
		return s.limits.writeTimeout(classOf(st.Writes))
	case st.Truncates:
		return s.limits.TruncateTimeout
	case st.Ranges:
		return s.limits.RangeTimeout
	}
	return s.limits.ReadTimeout
}

// startDecision gives a conditional write its time, which began when the request arrived.
func (r *request) startDecision() *exec.Decision {
	r.decision.Until = clockStart.Add(r.began + r.conn.server.limits.CASTimeout)
	return &r.decision
}
