package protocol

import (
	"net/netip"

	"github.com/cqld/cqld/cql/cqlerr"
)

// Event tells a connection that registered for it what happened. It answers no request: its stream is
// EventStream.
//
//	<type [string]> then
//	TOPOLOGY_CHANGE		<change [string]><node [inet]>		NEW_NODE, REMOVED_NODE
//	STATUS_CHANGE		<change [string]><node [inet]>		UP, DOWN
//	SCHEMA_CHANGE		as in SchemaChange
type Event struct {
	Type   EventType
	Change string         // of a node
	Node   netip.AddrPort // as clients reach it
	Schema SchemaChange
}

// Opcode is EVENT's.
func (*Event) Opcode() Opcode { return OpEvent }
func (*Event) response()      {}

func (m *Event) append(dst []byte, v Version) []byte {
	dst = appendString(dst, string(m.Type))
	if m.Type == SchemaChanges {
		return m.Schema.appendChange(dst, v)
	}
	return appendInet(appendString(dst, m.Change), m.Node)
}

func (m *Event) decode(r *reader, v Version) {
	*m = Event{Type: EventType(r.string())}
	switch m.Type {
	case SchemaChanges:
		m.Schema.decodeChange(r, v)
	case TopologyChange, StatusChange:
		m.Change, m.Node = r.string(), r.inet()
	default:
		r.fail(cqlerr.Protocolf("Unknown event type %s", string(m.Type)))
	}
}
