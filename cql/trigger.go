package cql

// CreateTrigger names a class that is told of a table's writes.
//
//	CREATE TRIGGER [IF NOT EXISTS] name ON table USING 'class'
type CreateTrigger struct {
	Span
	Name        string
	IfNotExists bool
	Table       QualifiedName
	Class       string
}

// DropTrigger removes a trigger.
//
//	DROP TRIGGER [IF EXISTS] name ON table
type DropTrigger struct {
	Span
	Name     string
	IfExists bool
	Table    QualifiedName
}

func (*CreateTrigger) statement() {}
func (*DropTrigger) statement()   {}
