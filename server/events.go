package server

import (
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/protocol"
)

// A connection may leave so many bytes of events unread before the next event closes it: mostEvents, or less where many
// connections get events, so that together they take an eighth of the memory for clients.
const (
	mostEvents  = 1 << 20
	leastEvents = 16 << 10
	eventShare  = 8
)

// eventBacklog is how many bytes of events a connection may leave unread if so many connections get them.
func (l *Limits) eventBacklog(connections int64) int64 {
	return max(leastEvents, min(mostEvents, l.Memory/eventShare/max(1, connections)))
}

// publish sends schema changes, in order, to the connections that registered for them. When it returns, they are in the
// connections' buffers: the connection that changes the schema gets them before the answer.
func (s *Server) publish(changes []schema.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	backlog := s.limits.eventBacklog(s.registered)
	for c := range s.conns {
		if c.session.events.Load()&eventBits[protocol.SchemaChanges] == 0 {
			continue
		}
		if c.out.unreadEvents() > backlog {
			s.metrics.deaf.Add(1)
			c.log.Warn().Msg("connection closed: it does not read its events")
			c.abort()
			continue
		}
		for _, change := range changes {
			c.out.appendEvent(&protocol.Event{Type: protocol.SchemaChanges, Schema: schemaChange(change)})
		}
	}
}

// schemaChange is a change in the form of the protocol.
func schemaChange(c schema.Change) protocol.SchemaChange {
	return protocol.SchemaChange{
		Change: string(c.Kind), Target: string(c.Target), Keyspace: c.Keyspace, Name: c.Name, Args: c.Args,
	}
}
