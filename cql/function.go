package cql

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

// DropFunction removes a function; which one, if several have the name, say the types.
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
