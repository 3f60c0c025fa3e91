package server

import (
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/wire"
)

// eventBits are the bits of session.events.
var eventBits = map[protocol.EventType]uint32{
	protocol.TopologyChange: 1 << 0, // of a ring: a single node has none
	protocol.StatusChange:   1 << 1, // likewise
	protocol.SchemaChanges:  1 << 2,
	protocol.TraceComplete:  1 << 3, // never sent, by Cassandra either
}

// register serves REGISTER: it subscribes the connection to events. If the version lacks one of the events, the events
// before it are added.
func register(r *request) {
	types, err := r.message.(*protocol.Register).EventTypes(r.conn.session.version)
	for _, t := range types {
		r.conn.wantEvents(eventBits[t])
	}
	if err != nil {
		r.fail(err)
		return
	}
	r.answer(&protocol.Ready{})
}

// wantEvents subscribes the connection to events.
func (c *conn) wantEvents(bits uint32) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := c.session.events.Or(bits); before == 0 {
		s.registered++ // until forget
	}
}

// maxEvents is how many bytes of events a connection may leave unread before the next event closes it. It is less
// where many connections get events, down to minEvents: all of them share an eighth of the memory for clients.
const (
	maxEvents  = 1 << 20
	minEvents  = 16 << 10
	eventShare = 8
)

// eventBacklog is how many bytes of events a connection may leave unread if so many connections get them.
func (l *Limits) eventBacklog(connections int64) int64 {
	return max(minEvents, min(maxEvents, l.Memory/eventShare/max(1, connections)))
}

// publish sends schema changes, in order, to the connections that registered for them. When it returns, they are in
// the connections' buffers: the connection that changes the schema gets them before the answer.
func (s *Server) publish(changes []schema.Change) {
	events := make([]protocol.Event, len(changes))
	for i, change := range changes {
		events[i] = protocol.Event{Type: protocol.SchemaChanges, Schema: schemaChange(change)}
	}
	s.send(events, everyone)
}

func everyone(*conn) bool { return true }

// send sends events, in order, to the connections among some that have registered for them.
func (s *Server) send(events []protocol.Event, to func(*conn) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	backlog := s.limits.eventBacklog(s.registered)
	var waiting []*wire.Output
	for c := range s.conns {
		registered := c.session.events.Load()
		wants := func(e protocol.Event) bool { return registered&eventBits[e.Type] != 0 }
		if !to(c) || !slices.ContainsFunc(events, wants) {
			continue
		}
		if c.out.UnreadEvents() > backlog {
			s.metrics.deaf.Add(1)
			if s.logged.Allow(eventsUnread, c.remote.Addr()) {
				c.log.Warn().Msg(eventsUnread)
			}
			c.abort()
			continue
		}
		for _, event := range events {
			if wants(event) && c.out.AppendEvent(&event) {
				waiting = append(waiting, &c.out)
			}
		}
	}
	s.events.Add(waiting)
}

const eventsUnread = "connection closed: it does not read its events"

// schemaChanged drops plans that a change made useless, to free their memory, and the histograms of dropped tables.
func (s *Server) schemaChanged(changes []schema.Change) {
	useless := false
	for _, c := range changes {
		useless = useless || c.Kind == schema.Dropped || c.Target == schema.TargetTable && c.Kind == schema.Updated
	}
	if !useless {
		return
	}
	for _, n := range s.allNodes() {
		n.prepared.Prune()
	}
	s.texts.Prune()
	s.latencies.Prune()
}
