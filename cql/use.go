package cql

// Use sets the session's keyspace.
//
//	USE keyspace
type Use struct {
	Span
	Keyspace string
}

func (*Use) statement() {}
