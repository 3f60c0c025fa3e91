package protocol

import (
	"net/netip"

	"github.com/cqld/cqld/cql/cqlerr"
)

// The kinds of RESULT, an [int] at the beginning of its body. Each is a separate message here.
const (
	resultVoid         = 1
	resultRows         = 2
	resultSetKeyspace  = 3
	resultPrepared     = 4
	resultSchemaChange = 5
)

// resultMessage reads the kind of a RESULT and returns the message for the rest, or nil and fails.
func resultMessage(r *reader) Response {
	kind := r.int()
	switch kind {
	case resultVoid:
		return &Void{}
	case resultRows:
		return &Rows{}
	case resultSetKeyspace:
		return &SetKeyspace{}
	case resultPrepared:
		return &Prepared{}
	case resultSchemaChange:
		return &SchemaChange{}
	}
	r.fail(cqlerr.Protocolf("Unknown kind of result %d", kind))
	return nil
}

// Void is the RESULT of a statement without a result.
//
//	(empty)
type Void struct{}

// Opcode is RESULT's.
func (*Void) Opcode() Opcode { return OpResult }
func (*Void) response()      {}

func (*Void) append(dst []byte, _ Version) []byte { return appendInt(dst, resultVoid) }
func (*Void) decode(*reader, Version)             {}

// SetKeyspace is the RESULT of USE.
//
//	<keyspace [string]>
type SetKeyspace struct{ Keyspace string }

// Opcode is RESULT's.
func (*SetKeyspace) Opcode() Opcode { return OpResult }
func (*SetKeyspace) response()      {}

func (m *SetKeyspace) append(dst []byte, _ Version) []byte {
	return appendString(appendInt(dst, resultSetKeyspace), m.Keyspace)
}

func (m *SetKeyspace) decode(r *reader, _ Version) { m.Keyspace = r.string() }

// SchemaChange is a change of the schema: the RESULT of the statement, and the content of an event.
//
//	<change [string]><target [string]><keyspace [string]>[<name [string]>][<argument types [string list]>]
//
// Keyspaces have no name; only functions and aggregates have arguments. v3 knows neither: their changes become an
// update of the keyspace, followed, as in Cassandra, by a superfluous empty name.
type SchemaChange struct {
	Change   string // CREATED, UPDATED or DROPPED
	Target   string // KEYSPACE, TABLE, TYPE, FUNCTION or AGGREGATE
	Keyspace string
	Name     string
	Args     []string
}

// The targets that decide about the layout.
const (
	targetKeyspace  = "KEYSPACE"
	targetFunction  = "FUNCTION"
	targetAggregate = "AGGREGATE"
)

// Opcode is RESULT's.
func (*SchemaChange) Opcode() Opcode { return OpResult }
func (*SchemaChange) response()      {}

func (m *SchemaChange) append(dst []byte, v Version) []byte {
	return m.appendChange(appendInt(dst, resultSchemaChange), v)
}

func (m *SchemaChange) decode(r *reader, v Version) { m.decodeChange(r, v) }

func (m *SchemaChange) callable() bool {
	return m.Target == targetFunction || m.Target == targetAggregate
}

func (m *SchemaChange) appendChange(dst []byte, v Version) []byte {
	if m.callable() && !v.HasFunctionChanges() {
		dst = appendString(appendString(dst, "UPDATED"), targetKeyspace)
		return appendString(appendString(dst, m.Keyspace), "")
	}
	dst = appendString(appendString(dst, m.Change), m.Target)
	dst = appendString(dst, m.Keyspace)
	if m.Target != targetKeyspace {
		dst = appendString(dst, m.Name)
	}
	if m.callable() {
		dst = appendStringList(dst, m.Args)
	}
	return dst
}

func (m *SchemaChange) decodeChange(r *reader, _ Version) {
	*m = SchemaChange{Change: r.string(), Target: r.string(), Keyspace: r.string()}
	if m.Target != targetKeyspace {
		m.Name = r.string()
	}
	if m.callable() {
		m.Args = r.stringList()
	}
}

// Event reports a change to connections that registered for it. Its stream is EventStream.
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
