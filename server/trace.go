package server

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/secret"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/protocol"
)

// trace records what a request with the tracing flag does. It is written to system_traces when the request is answered.
type trace struct {
	conn       *conn
	id         [16]byte // a timeuuid, which the answer has
	started    time.Time
	clock      time.Time // when it started, by the real clock
	request    string
	parameters []traceParameter
	events     []traceEvent
	touched    *exec.Touched // what the statement has read; nil: it was not executed
}

// traceParameter is an entry of the map that shows the request's parameters.
type traceParameter struct{ key, value string }

// traceEvent is a step of the request.
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

// traceRequest records what the request is. text is the statement, if there is one; p is nil for PREPARE.
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
		t.set("query", secret.Hide(text))
	}
	if p != nil {
		t.set("serial_consistency_level", p.SerialConsistency.String())
	}
}

// traceValues records the values of an EXECUTE, as literals, and that execution begins.
func (r *request) traceValues(values []types.Value) {
	t := r.trace
	if t == nil {
		return
	}
	if r.prepared {
		for i, v := range values {
			m := &r.statement.plan.Markers[i]
			t.set(fmt.Sprintf("bound_var_%d_%s", i, m.Name), shownValue(m, v))
		}
	}
	r.tracef("Executing %s", planLines.Replace(secret.Hide(r.statement.plan.Plan.String())))
}

// traceRead records what a SELECT has read, and which indexes it has used.
func (r *request) traceRead() {
	t := r.trace
	if t == nil || t.touched == nil || r.statement == nil || !r.statement.reads {
		return
	}
	read, table := &t.touched.Indexed, ""
	if p, ok := r.statement.plan.Plan.(*planner.Select); ok {
		table = p.Table.Keyspace + "." + p.Table.Name
	}
	if len(read.Names) > 0 {
		word := "index"
		if len(read.Names) > 1 {
			word = "indexes"
		}
		r.tracef("Executing read on %s using %s %s", table, word, strings.Join(read.Names, ","))
		r.tracef("Index query read %d entries, post-filtered %d rows", read.Entries, t.touched.Rows)
	}
	r.tracef("Read %d live rows and %d tombstone cells", t.touched.Rows, t.touched.Tombstones)
}

// planLines makes one line of a printed plan.
var planLines = strings.NewReplacer("\n  ", ", ", "\n", ", ")

// shownValue is the value of a marker as a literal, unless it is a password.
func shownValue(m *planner.Marker, v types.Value) string {
	if secret.Names(m.Name) {
		return secret.Stars
	}
	return formatValue(m.Type, v)
}

func formatValue(t types.Type, v types.Value) string {
	switch {
	case v.Unset:
		return "unset"
	case v.Bytes == nil:
		return "null"
	case len(v.Bytes) > 0 && t.Validate(v.Bytes) != nil:
		return fmt.Sprintf("0x%x", v.Bytes) // execution will refuse it
	}
	return t.Format(v.Bytes)
}

func (t *trace) set(key, value string) {
	t.parameters = append(t.parameters, traceParameter{key, value})
}
