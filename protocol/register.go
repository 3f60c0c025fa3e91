package protocol

import (
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// Register asks for events on this connection.
//
//	<event types [string list]>
//
// EventTypes tells what the names mean: a wrong one is found only there, because Cassandra registers the ones
// before it.
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

// EventTypes returns the types asked for, in any case, up to the first that does not exist.
func (m *Register) EventTypes(v Version) ([]EventType, error) {
	var list []EventType
	for _, name := range m.Names {
		switch t := EventType(strings.ToUpper(name)); {
		case t == TraceComplete && !v.HasTraceEvents():
			return list, cqlerr.Protocolf("Event %s not valid for protocol version %s", t, v)
		case t == TopologyChange, t == StatusChange, t == SchemaChanges, t == TraceComplete:
			list = append(list, t)
		default:
			return list, cqlerr.Protocolf("Invalid value '%s' for Type", name)
		}
	}
	return list, nil
}

// Opcode is REGISTER's.
func (*Register) Opcode() Opcode { return OpRegister }
func (*Register) request()       {}

func (m *Register) append(dst []byte, _ Version) []byte { return appendStringList(dst, m.Names) }
func (m *Register) decode(r *reader, _ Version)         { m.Names = r.appendStrings(reuse(m.Names)) }
