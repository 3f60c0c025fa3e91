package server

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"slices"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// traceTTL is how many seconds a trace is kept.
const traceTTL = 24 * 60 * 60

// tracePort is the port that traces show for nodes: the one between Cassandra's nodes.
const tracePort = 7000

// traceThread is shown as the thread of every event.
const traceThread = "Native-Transport-Requests"

// start writes the trace in a goroutine. The connection waits for it as for a request. The caller may be a goroutine of
// the store, which must not wait for the store.
func (t *trace) start() {
	elapsed := time.Since(t.clock)
	t.conn.requests.Add(1)
	go func() {
		defer t.conn.requests.Done()
		t.write(t.conn.server, elapsed)
	}()
}

// write writes a row to system_traces.sessions, and a row to system_traces.events for each event. They can be read at
// about the time when the answer arrives, as clients expect.
func (t *trace) write(s *Server, elapsed time.Duration) {
	catalog := s.store.Catalog()
	sessions, events := catalog.Table("system_traces", "sessions"), catalog.Table("system_traces", "events")
	if sessions == nil || events == nil {
		t.conn.log.Error().Msg("the tables of system_traces are missing")
		return
	}
	now := s.store.Now()
	w := traceWriter{
		ts:     s.store.Timestamp(),
		expiry: store.Expiry{TTL: traceTTL, At: now.Unix() + traceTTL},
	}
	node, client := t.conn.local.Addr(), t.conn.remote.Addr()

	session := w.row(sessions, store.NewMutation(sessions, t.id[:]), nil)
	session.set("client", address(client))
	session.set("command", []byte("QUERY"))
	session.set("coordinator", address(node))
	session.set("coordinator_port", types.EncodeInt(tracePort))
	session.set("duration", types.EncodeInt(int32(elapsed.Microseconds())))
	session.set("parameters", mapBytes(t.parameters))
	session.set("request", []byte(t.request))
	session.set("started_at", binary.BigEndian.AppendUint64(nil, uint64(t.started.UnixMilli())))

	steps := store.NewMutation(events, t.id[:])
	for _, e := range t.events {
		step := w.row(events, steps, [][]byte{e.id[:]})
		step.set("activity", []byte(e.activity))
		step.set("source", address(node))
		step.set("source_elapsed", types.EncodeInt(int32(e.elapsed.Microseconds())))
		step.set("source_port", types.EncodeInt(tracePort))
		step.set("thread", []byte(traceThread))
	}
	log := t.conn.log
	s.store.Apply([]*store.Mutation{session.mutation, steps}, func(err error) {
		if err != nil {
			log.Warn().Err(err).Msg("a trace was not written")
		}
	})
}

// traceWriter makes rows that expire.
type traceWriter struct {
	ts     int64
	expiry store.Expiry
}

// traceRow is a row that is being made.
type traceRow struct {
	*traceWriter
	table    *schema.Table
	mutation *store.Mutation
}

func (w *traceWriter) row(t *schema.Table, m *store.Mutation, clustering [][]byte) traceRow {
	m.Row(clustering)
	m.Mark(w.ts, w.expiry)
	return traceRow{w, t, m}
}

func (r traceRow) set(column string, value []byte) {
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

// mapBytes is a map<text, text>: the number of entries, then each key and value behind its length, in the order of
// keys.
func mapBytes(entries []traceParameter) []byte {
	slices.SortFunc(entries, func(a, b traceParameter) int { return cmp.Compare(a.key, b.key) })
	b := types.EncodeInt(int32(len(entries)))
	for _, e := range entries {
		b = append(append(b, types.EncodeInt(int32(len(e.key)))...), e.key...)
		b = append(append(b, types.EncodeInt(int32(len(e.value)))...), e.value...)
	}
	return b
}
