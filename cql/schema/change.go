package schema

// ChangeKind is what happened to a schema object.
type ChangeKind string

// The kinds, spelled as the protocol spells them.
const (
	Created ChangeKind = "CREATED"
	Updated ChangeKind = "UPDATED"
	Dropped ChangeKind = "DROPPED"
)

// Target is the kind of schema object that changed.
type Target string

// The targets, spelled as the protocol spells them. A materialized view is a table here.
const (
	TargetKeyspace  Target = "KEYSPACE"
	TargetTable     Target = "TABLE"
	TargetType      Target = "TYPE"
	TargetFunction  Target = "FUNCTION"
	TargetAggregate Target = "AGGREGATE"
)

// Change is one change of the schema as results and events tell it.
type Change struct {
	Kind     ChangeKind
	Target   Target
	Keyspace string
	Name     string   // empty for keyspaces
	Args     []string // of functions and aggregates
}
