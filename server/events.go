package server

import (
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/protocol"
)

// backlogLimit is how much a connection may leave unread and still be told of events; more would be kept
// for a client that is not there any more.
const backlogLimit = 64 << 20

// publish tells every connection that registered for schema changes of them, in order. They stand in the
// connections' buffers when it returns: on the connection that changes the schema, before the answer.
func (s *Server) publish(changes []schema.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if c.session.events.Load()&eventBits[protocol.SchemaChanges] == 0 {
			continue
		}
		if c.out.unread.Load() > backlogLimit {
			c.log.Warn().Msg("connection closed: it does not read its events")
			c.abort()
			continue
		}
		for _, change := range changes {
			event := protocol.Event{Type: protocol.SchemaChanges, Schema: schemaChange(change)}
			c.out.append(protocol.EventStream, nil, &event)
		}
	}
}

// schemaChange is a change as the protocol tells it.
func schemaChange(c schema.Change) protocol.SchemaChange {
	return protocol.SchemaChange{
		Change: string(c.Kind), Target: string(c.Target), Keyspace: c.Keyspace, Name: c.Name, Args: c.Args,
	}
}
