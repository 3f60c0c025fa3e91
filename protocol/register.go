package protocol

import (
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// Register asks for events on this connection.
//
//	<event types [string list]>
//
// EventTypes tells what the names mean, apart from decoding, because Cassandra registers those before one that
// the version does not have.
type Register struct{ Names []string }

// EventType is a kind of event.
type EventType string

// The events. TraceComplete may be asked for and is never sent.
const (
	TopologyChange EventType = "TOPOLOGY_CHANGE"
	StatusChange   EventType = "STATUS_CHANGE"
	SchemaChanges  EventType = "SCHEMA_CHANGE"
	TraceComplete  EventType = "TRACE_COMPLETE"
)

// EventTypes returns the types asked for, in any case: none if a name does not exist, those before the first
// that the version does not have.
func (m *Register) EventTypes(v Version) ([]EventType, error) {
	list := make([]EventType, 0, len(m.Names))
	for _, name := range m.Names {
		switch t := EventType(strings.ToUpper(name)); t {
		case TopologyChange, StatusChange, SchemaChanges, TraceComplete:
			list = append(list, t)
		default:
			return nil, cqlerr.Protocolf("Invalid value '%s' for Type", name)
		}
	}
	for i, t := range list {
		if t == TraceComplete && !v.HasTraceEvents() {
			return list[:i], cqlerr.Protocolf("Event %s not valid for protocol version %s", t, v)
		}
	}
	return list, nil
}

// Opcode is REGISTER's.
func (*Register) Opcode() Opcode { return OpRegister }
func (*Register) request()       {}

func (m *Register) append(dst []byte, _ Version) []byte { return appendStringList(dst, m.Names) }
func (m *Register) decode(r *reader, _ Version)         { m.Names = r.appendStrings(reuse(m.Names)) }
