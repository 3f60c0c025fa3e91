package server

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
)

// trace is what a request with the tracing flag did, to be written to system_traces when it is answered.
type trace struct {
	conn       *conn
	id         [16]byte // a timeuuid, which the answer tells
	started    time.Time
	clock      time.Time // when it started by the real clock, which measures
	request    string
	parameters []traceParameter
	events     []traceEvent
}

// traceParameter is an entry of the map that shows the request's parameters.
type traceParameter struct{ key, value string }

// traceEvent is something that happened on the way.
type traceEvent struct {
	id       [16]byte // a timeuuid
	activity string
	elapsed  time.Duration
}

// startTrace begins to trace the request.
func (r *request) startTrace() {
	s := r.conn.server
	started := s.store.Now()
	r.trace = &trace{conn: r.conn, id: s.uuids.Next(started), started: started, clock: time.Now()}
}

// tracef adds an event, if the request is traced.
func (r *request) tracef(format string, args ...any) {
	t := r.trace
	if t == nil {
		return
	}
	elapsed := time.Since(t.clock)
	t.events = append(t.events, traceEvent{
		id:       r.conn.server.uuids.Next(t.started.Add(elapsed)),
		activity: fmt.Sprintf(format, args...),
		elapsed:  elapsed,
	})
}

// traceRequest says what the request is. text is the statement's, if there is one; p is nil for PREPARE.
func (r *request) traceRequest(name, text string, p *protocol.QueryParameters) {
	t := r.trace
	if t == nil {
		return
	}
	t.request = name
	if p != nil {
		t.set("consistency_level", p.Consistency.String())
	}
	if p != nil && p.Flags.Has(protocol.WithPageSize) {
		t.set("page_size", strconv.Itoa(int(p.PageSize)))
	}
	if text != "" {
		t.set("query", text)
	}
	if p != nil {
		t.set("serial_consistency_level", p.SerialConsistency.String())
	}
}

// traceValues shows the values that an EXECUTE has bound, as literals, and that execution begins.
func (r *request) traceValues(values []types.Value) {
	t := r.trace
	if t == nil {
		return
	}
	if r.prepared {
		for i, v := range values {
			m := &r.statement.plan.Markers[i]
			t.set(fmt.Sprintf("bound_var_%d_%s", i, m.Name), formatValue(m.Type, v))
		}
	}
	r.tracef("Executing %s", planLines.Replace(r.statement.plan.Plan.String()))
}

// planLines puts the lines that a plan prints itself in into one.
var planLines = strings.NewReplacer("\n  ", ", ", "\n", ", ")

func formatValue(t types.Type, v types.Value) string {
	switch {
	case v.Unset:
		return "unset"
	case v.Bytes == nil:
		return "null"
	case len(v.Bytes) > 0 && t.Validate(v.Bytes) != nil:
		return fmt.Sprintf("0x%x", v.Bytes) // is going to be refused
	}
	return t.Format(v.Bytes)
}

func (t *trace) set(key, value string) {
	t.parameters = append(t.parameters, traceParameter{key, value})
}
