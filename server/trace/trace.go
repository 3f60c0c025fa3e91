// Package trace records the steps of a request with the tracing flag, and writes them to the tables of system_traces.
// A Trace begins when the request is decoded, gets its events while the request is served, and is written when it is
// answered. The methods of a nil Trace do nothing, so that the server calls them for every request.
package trace

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/secret"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store"
)

// Trace is the trace of one request.
type Trace struct {
	ID      [16]byte     // a timeuuid, which the answer has
	Touched exec.Touched // the rows, keys and indexes that the statement has read

	store      *store.Store
	uuids      *types.UUIDClock
	started    time.Time // by the clock of the store
	clock      time.Time // the same by the real clock
	elapsed    time.Duration
	request    string
	parameters []parameter
	events     []event
}

// parameter is an entry of the map that shows the request's parameters.
type parameter struct{ key, value string }

// event is a step of the request.
type event struct {
	id       [16]byte // a timeuuid
	activity string
	elapsed  time.Duration
}

// Start begins a trace.
func Start(st *store.Store, uuids *types.UUIDClock) *Trace {
	now := st.Now()
	return &Trace{ID: uuids.Next(now), store: st, uuids: uuids, started: now, clock: time.Now()}
}

// Event adds a step.
func (t *Trace) Event(activity string) {
	if t == nil {
		return
	}
	elapsed := time.Since(t.clock)
	t.events = append(t.events, event{id: t.uuids.Next(t.started.Add(elapsed)), activity: activity, elapsed: elapsed})
}

// Request sets the name and the parameters of the request. text is its statement, if it has one; p is nil for PREPARE.
func (t *Trace) Request(name, text string, p *protocol.QueryParameters) {
	if t == nil {
		return
	}
	t.request = name
	if text != "" {
		t.set("query", secret.Hide(text))
	}
	if p == nil {
		return
	}
	t.set("consistency_level", p.Consistency.String())
	t.set("serial_consistency_level", p.SerialConsistency.String())
	if p.Flags.Has(protocol.WithPageSize) {
		t.set("page_size", strconv.Itoa(int(p.PageSize)))
	}
}

// Values sets the bound values of an EXECUTE, as literals.
func (t *Trace) Values(markers []planner.Marker, values []types.Value) {
	for i, v := range values {
		t.set(fmt.Sprintf("bound_var_%d_%s", i, markers[i].Name), Literal(&markers[i], v))
	}
}

func (t *Trace) set(key, value string) {
	t.parameters = append(t.parameters, parameter{key, value})
}

// Parse adds that a statement is parsed.
func (t *Trace) Parse(text string) {
	if t != nil {
		t.Event("Parsing " + secret.Hide(text))
	}
}

// Execute adds that the execution of a plan begins.
func (t *Trace) Execute(plan planner.Plan) {
	t.Event("Executing " + planLines.Replace(secret.Hide(plan.String())))
}

// planLines makes one line of a printed plan.
var planLines = strings.NewReplacer("\n  ", ", ", "\n", ", ")

// Read adds the rows that a SELECT has read, and the indexes that it has used.
func (t *Trace) Read(plan planner.Plan) {
	read, table := &t.Touched.Indexed, ""
	if p, ok := plan.(*planner.Select); ok {
		table = p.Table.Keyspace + "." + p.Table.Name
	}
	if len(read.Names) > 0 {
		word := "index"
		if len(read.Names) > 1 {
			word = "indexes"
		}
		t.Event(fmt.Sprintf("Executing read on %s using %s %s", table, word, strings.Join(read.Names, ",")))
		t.Event(fmt.Sprintf("Index query read %d entries, post-filtered %d rows", read.Entries, t.Touched.Rows))
	}
	t.Event(fmt.Sprintf("Read %d live rows and %d tombstone cells", t.Touched.Rows, t.Touched.Tombstones))
}

// Literal is the value of a marker as a literal, unless it is a password.
func Literal(m *planner.Marker, v types.Value) string {
	switch {
	case secret.Names(m.Name):
		return secret.Stars
	case v.Unset:
		return "unset"
	case v.Bytes == nil:
		return "null"
	case len(v.Bytes) > 0 && m.Type.Validate(v.Bytes) != nil:
		return fmt.Sprintf("0x%x", v.Bytes) // execution will refuse it
	}
	return m.Type.Format(v.Bytes)
}

// End notes the duration of the request.
func (t *Trace) End() { t.elapsed = time.Since(t.clock) }

const (
	ttl    = 24 * 60 * 60                // seconds
	port   = 7000                        // of nodes: the one between Cassandra's nodes
	thread = "Native-Transport-Requests" // of every event
)

// Write writes a row to system_traces.sessions, and a row to system_traces.events for each event. They can be read at
// about the time when the answer arrives, as clients expect.
func (t *Trace) Write(node, client netip.Addr, log zerolog.Logger) {
	catalog := t.store.Catalog()
	sessions, events := catalog.Table("system_traces", "sessions"), catalog.Table("system_traces", "events")
	if sessions == nil || events == nil {
		log.Error().Msg("the tables of system_traces are missing")
		return
	}
	ts, err := t.store.TimestampAt(t.store.Now())
	if err != nil {
		log.Error().Err(err).Msg("cannot write a trace")
		return
	}
	w := writer{ts: ts, expiry: store.Expiry{TTL: ttl, At: t.store.Now().Unix() + ttl}}

	session := w.row(sessions, store.NewMutation(sessions, t.ID[:]), nil)
	session.set("client", address(client))
	session.set("command", []byte("QUERY"))
	session.set("coordinator", address(node))
	session.set("coordinator_port", types.EncodeInt(port))
	session.set("duration", types.EncodeInt(int32(t.elapsed.Microseconds())))
	session.set("parameters", mapBytes(t.parameters))
	session.set("request", []byte(t.request))
	session.set("started_at", binary.BigEndian.AppendUint64(nil, uint64(t.started.UnixMilli())))

	steps := store.NewMutation(events, t.ID[:])
	for _, e := range t.events {
		step := w.row(events, steps, [][]byte{e.id[:]})
		step.set("activity", []byte(e.activity))
		step.set("source", address(node))
		step.set("source_elapsed", types.EncodeInt(int32(e.elapsed.Microseconds())))
		step.set("source_port", types.EncodeInt(port))
		step.set("thread", []byte(thread))
	}
	t.store.Apply([]*store.Mutation{session.mutation, steps}, func(err error) {
		if err != nil {
			log.Warn().Err(err).Msg("a trace was not written")
		}
	})
}

// writer makes rows that expire.
type writer struct {
	ts     int64
	expiry store.Expiry
}

// row is a row of a mutation.
type row struct {
	*writer
	table    *schema.Table
	mutation *store.Mutation
}

func (w *writer) row(t *schema.Table, m *store.Mutation, clustering [][]byte) row {
	m.Row(clustering)
	m.Mark(w.ts, w.expiry)
	return row{w, t, m}
}

func (r row) set(column string, value []byte) {
	if c := r.table.Column(column); c != nil && value != nil {
		r.mutation.Set(c, value, r.ts, r.expiry)
	}
}

// address is an inet value; nil for a connection that has no address.
func address(a netip.Addr) []byte {
	if !a.IsValid() {
		return nil
	}
	return a.AsSlice()
}

// mapBytes is a map<text, text>: the number of entries, then each key and value after its length, in the order of
// keys.
func mapBytes(entries []parameter) []byte {
	slices.SortFunc(entries, func(a, b parameter) int { return cmp.Compare(a.key, b.key) })
	b := types.EncodeInt(int32(len(entries)))
	for _, e := range entries {
		b = append(append(b, types.EncodeInt(int32(len(e.key)))...), e.key...)
		b = append(append(b, types.EncodeInt(int32(len(e.value)))...), e.value...)
	}
	return b
}
