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

// TypeChange is the change of an ALTER TYPE. The kinds are the structs with a typeChange method.
type TypeChange interface {
	typeChange()
	String() string // as in the statement
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

// AlterFieldType changes the type of a field, which Cassandra no longer supports.
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

// CreateFunction defines a function.
//
//	CREATE [OR REPLACE] FUNCTION [IF NOT EXISTS] name (arg type, ...)
//	  CALLED | RETURNS NULL ON NULL INPUT RETURNS type LANGUAGE language AS 'body'
type CreateFunction struct {
	Span
	Function     QualifiedName
	OrReplace    bool
	IfNotExists  bool
	Args         []FieldDefinition
	CalledOnNull bool
	Returns      TypeName
	Language     string // in lower case
	Body         string
}

// DropFunction removes a function; the types select one of its overloads.
//
//	DROP FUNCTION [IF EXISTS] name [(type, ...)]
type DropFunction struct {
	Span
	Function QualifiedName
	IfExists bool
	Args     *Signature // nil when not given
}

// Signature is the list of types of a function's arguments.
type Signature struct{ Types []TypeName }

func (*CreateFunction) statement() {}
func (*DropFunction) statement()   {}

// CreateAggregate defines an aggregate made of functions.
//
//	CREATE [OR REPLACE] AGGREGATE [IF NOT EXISTS] name (type, ...) SFUNC function STYPE type
//	  [FINALFUNC function] [INITCOND term]
type CreateAggregate struct {
	Span
	Function      QualifiedName
	OrReplace     bool
	IfNotExists   bool
	Args          Signature
	StateFunction string
	StateType     TypeName
	FinalFunction string // "" when not given
	Initial       Term   // nil when not given
}

// DropAggregate removes an aggregate; the types select one of its overloads.
//
//	DROP AGGREGATE [IF EXISTS] name [(type, ...)]
type DropAggregate struct {
	Span
	Function QualifiedName
	IfExists bool
	Args     *Signature // nil when not given
}

func (*CreateAggregate) statement() {}
func (*DropAggregate) statement()   {}
