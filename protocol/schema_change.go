package protocol

// SchemaChange is what a definition changed: the RESULT of the statement, and the content of an event.
//
//	<change [string]><target [string]><keyspace [string]>[<name [string]>][<argument types [string list]>]
//
// The name is not there for keyspaces; the arguments are for functions and aggregates only. v3 knows neither
// of those: their changes become an update of the keyspace, with an empty name behind it that should not be
// there, as Cassandra sends it.
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
