package cql

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

// DropAggregate removes an aggregate; which one, if several have the name, say the types.
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
