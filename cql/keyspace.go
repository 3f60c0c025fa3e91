package cql

// CreateKeyspace defines a keyspace.
//
//	CREATE KEYSPACE [IF NOT EXISTS] name WITH properties
type CreateKeyspace struct {
	Span
	Name        string
	IfNotExists bool
	Properties  []Property
}

// AlterKeyspace changes the options of a keyspace.
//
//	ALTER KEYSPACE [IF EXISTS] name WITH properties
type AlterKeyspace struct {
	Span
	Name       string
	IfExists   bool
	Properties []Property
}

// DropKeyspace removes a keyspace and all in it.
//
//	DROP KEYSPACE [IF EXISTS] name
type DropKeyspace struct {
	Span
	Name     string
	IfExists bool
}

func (*CreateKeyspace) statement() {}
func (*AlterKeyspace) statement()  {}
func (*DropKeyspace) statement()   {}
