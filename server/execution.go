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
	"github.com/cqld/cqld/store/pace"
)

// execute runs the request's statement. exec calls request.finish with the result.
func (r *request) execute(values []types.Value, p *protocol.QueryParameters) {
	r.traceValues(values)
	r.skip = p.Flags.Has(protocol.SkipMetadata)
	r.latency = r.statement.latency
	s, st := r.conn.server, r.statement
	r.single = exec.Request{Prepared: st.plan, Values: values, Options: r.options(p, s.timeout(st))}
	s.recent.note(r)
	if s.roles != nil {
		if err := r.authorize(&r.single.Options, st); err != nil {
			r.fail(err)
			return
		}
	}
	if st.writes != "" && r.size > largeWrite {
		if err := r.startLargeWrite(st.writes); err != nil {
			r.fail(err)
			return
		}
	}
	if r.needsTurn() {
		turn, err := r.takeTurn(s.timeout(st))
		if err != nil {
			r.fail(r.timedOut(err, st.writes))
			return
		}
		defer turn.End()
		r.single.Turn = turn
	} else if st.brief { // the reader is in serveBrief
		r.turn.Brief(r.context(), s.scheduler, briefSteps, clockStart.Add(r.briefUntil))
		defer r.turn.End()
		r.single.Turn = &r.turn
	}
	switch {
	case st.writes == exec.Conditional:
		r.single.Decision = r.startDecision()
		r.conn.pendingWrites.add(r, st.writes)
	case st.writes != "":
		r.conn.pendingWrites.add(r, st.writes)
	case st.truncates:
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

// options are the parameters of a request in the form that exec has. timeout is how long the request may take.
func (r *request) options(p *protocol.QueryParameters, timeout time.Duration) exec.Options {
	var touched *exec.Touched
	switch {
	case r.inspection != nil:
		touched = &r.inspection.touched
	case r.trace != nil:
		touched = new(exec.Touched)
	}
	if r.trace != nil {
		r.trace.touched = touched
	}
	o := exec.Options{
		Touched:           touched,
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
	if view := r.conn.node.view.Load(); view != nil {
		r.coordinate(&o, view, timeout)
	}
	return o
}

// coordinate says how the node sees the ring. The reader does not wait for slow nodes: one that has become slow since
// it chose the request is as fast as before.
func (r *request) coordinate(o *exec.Options, view *ring.View, timeout time.Duration) {
	if view.Delay != nil && !r.detached {
		fast := *view
		fast.Delay = nil
		view = &fast
	}
	o.View, o.Timeout = view, timeout
	if view.Delay != nil {
		o.Sleep = r.sleep
	}
}

// sleep waits for slow nodes. Meanwhile the request's turn is another's, and the watchdog does not look at it: its time
// is counted here.
func (r *request) sleep(d time.Duration) error {
	r.conn.pendingWrites.remove(r)
	return r.turn.Sleep(r.conn.ctx, d)
}

// runsInReader reports whether the reader may execute the request's statement. It may not if the statement is a large
// write, or a read that was large of late: such a read has to wait for a turn. While memory for answers is scarce
// it may only if the read is known to be small.
func (r *request) runsInReader(st *statement) bool {
	if st.reads {
		if st.rows.large() || !st.rows.small() && r.conn.server.memory.answers.Short() {
			return false
		}
		return st.quick || st.brief && r.mayBeBrief()
	}
	return st.quick && r.size <= largeWrite
}

// needsTurn reports whether the request's statement may take long and runs on a turn. Changes of counters and
// conditional writes have no turn, because they wait for each other; what the reader executes has none, because the
// reader must not wait.
func (r *request) needsTurn() bool {
	st := r.statement
	if !r.detached {
		return false
	}
	if st.writes != "" {
		waits := st.writes == exec.Counter.WriteType() || st.writes == exec.Conditional
		return (st.manyWrites || !r.runsInReader(st)) && !waits
	}
	return st.reads && !(st.quick && r.runsInReader(st))
}

// timeout is how long a statement may take.
func (s *Server) timeout(st *statement) time.Duration {
	switch {
	case st.writes != "":
		return s.limits.writeTimeout(classOf(st.writes))
	case st.truncates:
		return s.limits.TruncateTimeout
	case st.ranges:
		return s.limits.RangeTimeout
	}
	return s.limits.ReadTimeout
}

// startDecision gives a conditional write its time, which began when the request arrived.
func (r *request) startDecision() *exec.Decision {
	r.decision.Until = clockStart.Add(r.began + r.conn.server.limits.CASTimeout)
	return &r.decision
}

// timedOut is the error of a request that could not begin in time. kind is the write type for errors; "": a read.
func (r *request) timedOut(err error, kind string) error {
	switch {
	case !errors.Is(err, pace.ErrTimeout):
		return err
	case kind != "":
		return r.notBegun(kind)
	}
	return cqlerr.ReadTimedOut(r.consistency())
}

// takeTurn waits for a turn of the request. The caller has to end it.
func (r *request) takeTurn(timeout time.Duration) (*pace.Turn, error) {
	return r.takeTurnIn(r.context(), timeout)
}

// takeTurnIn is takeTurn for work that ends with a context.
func (r *request) takeTurnIn(ctx context.Context, timeout time.Duration) (*pace.Turn, error) {
	err := r.turn.Begin(ctx, r.conn.server.scheduler, &r.conn.turns, time.Now().Add(timeout))
	return &r.turn, err
}

// readSlice is how long a turn runs before others run.
const readSlice = 4 * time.Millisecond
