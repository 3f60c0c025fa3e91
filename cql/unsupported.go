package cql

// Unsupported is a statement of CQL whose first words are known and that is not built yet; the planner
// answers an error that names it.
type Unsupported struct {
	Span
	Name string // ALTER TABLE, CREATE INDEX
}

func (*Unsupported) statement() {}
