package server

import "github.com/cqld/cqld/protocol"

// eventBits are the bits of session.events.
var eventBits = map[protocol.EventType]uint32{
	protocol.TopologyChange: 1 << 0, // of a ring: a single node has none
	protocol.StatusChange:   1 << 1, // likewise
	protocol.SchemaChanges:  1 << 2,
	protocol.TraceComplete:  1 << 3, // never sent, by Cassandra either
}

// register serves REGISTER: it adds events to those that the connection gets. If the version lacks one of the events,
// the events before it are added.
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

// wantEvents adds events to those that the connection gets.
func (c *conn) wantEvents(bits uint32) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := c.session.events.Or(bits); before == 0 {
		s.registered++ // until forget
	}
}
