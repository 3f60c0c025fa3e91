package server

import (
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/protocol"
)

// backlogLimit is how many bytes a connection may leave unread before events close it: its client is probably gone.
const backlogLimit = 64 << 20

// publish sends schema changes, in order, to the connections that registered for them. When it returns, they are in the
// connections' buffers: the connection that changes the schema gets them before the answer.
func (s *Server) publish(changes []schema.Change) {
	events := make([]protocol.Event, len(changes))
	for i, change := range changes {
		events[i] = protocol.Event{Type: protocol.SchemaChanges, Schema: schemaChange(change)}
	}
	s.send(events, func(*conn) bool { return true })
}

// send sends events, in order, to the connections among some that have registered for them.
func (s *Server) send(events []protocol.Event, to func(*conn) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		registered := c.session.events.Load()
		wants := func(e protocol.Event) bool { return registered&eventBits[e.Type] != 0 }
		if !to(c) || !slices.ContainsFunc(events, wants) {
			continue
		}
		if c.out.unread.Load() > backlogLimit {
			c.log.Warn().Msg("connection closed: it does not read its events")
			c.abort()
			continue
		}
		for _, event := range events {
			if wants(event) {
				c.out.append(protocol.EventStream, nil, &event)
			}
		}
	}
}

// schemaChange is a change in the form of the protocol.
func schemaChange(c schema.Change) protocol.SchemaChange {
	return protocol.SchemaChange{
		Change: string(c.Kind), Target: string(c.Target), Keyspace: c.Keyspace, Name: c.Name, Args: c.Args,
	}
}
