package cql

// Truncate removes all rows of a table.
//
//	TRUNCATE [TABLE] table
type Truncate struct {
	Span
	Table QualifiedName
}

func (*Truncate) statement() {}
