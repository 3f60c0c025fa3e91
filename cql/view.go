package cql

// CreateView defines a materialized view.
//
//	CREATE MATERIALIZED VIEW [IF NOT EXISTS] view AS SELECT selectors FROM table [WHERE relations]
//	  PRIMARY KEY (...) [WITH options]
type CreateView struct {
	Span
	View        QualifiedName
	IfNotExists bool
	Selectors   []Selector // none: *
	Table       QualifiedName
	Where       []Relation
	Custom      []CustomExpression
	Key         PrimaryKey
	Properties  []Property
	Order       []ClusteringOrder
}

// AlterView changes the options of a materialized view.
//
//	ALTER MATERIALIZED VIEW [IF EXISTS] view WITH properties
type AlterView struct {
	Span
	View       QualifiedName
	IfExists   bool
	Properties []Property
}

// DropView removes a materialized view.
//
//	DROP MATERIALIZED VIEW [IF EXISTS] view
type DropView struct {
	Span
	View     QualifiedName
	IfExists bool
}

func (*CreateView) statement() {}
func (*AlterView) statement()  {}
func (*DropView) statement()   {}
