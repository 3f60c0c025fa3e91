package cql

// CreateType defines a user type.
//
//	CREATE TYPE [IF NOT EXISTS] type (field type, ...)
type CreateType struct {
	Span
	Type        QualifiedName
	IfNotExists bool
	Fields      []FieldDefinition
}

// FieldDefinition is a name with its type: a field of a user type, or an argument of a function.
type FieldDefinition struct {
	Span
	Name string
	Type TypeName
}

// AlterType changes a user type in one way.
//
//	ALTER TYPE [IF EXISTS] type change
type AlterType struct {
	Span
	Type     QualifiedName
	IfExists bool
	Change   TypeChange
}

// TypeChange is what an ALTER TYPE does. The kinds are the structs that have a typeChange method.
type TypeChange interface {
	typeChange()
	String() string // as the statement has it
}

// AddField adds a field.
//
//	ADD [IF NOT EXISTS] field type
type AddField struct {
	IfNotExists bool
	Field       FieldDefinition
}

// RenameFields gives fields other names.
//
//	RENAME [IF EXISTS] field TO name [AND ...]
type RenameFields struct {
	IfExists bool
	Renames  []Rename
}

// AlterFieldType gives a field another type, which no Cassandra of today does.
//
//	ALTER field TYPE type
type AlterFieldType struct {
	Field string
	Type  TypeName
}

// DropType removes a user type.
//
//	DROP TYPE [IF EXISTS] type
type DropType struct {
	Span
	Type     QualifiedName
	IfExists bool
}

func (*CreateType) statement() {}
func (*AlterType) statement()  {}
func (*DropType) statement()   {}

func (*AddField) typeChange()       {}
func (*RenameFields) typeChange()   {}
func (*AlterFieldType) typeChange() {}
