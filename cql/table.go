package cql

// CreateTable defines a table.
//
//	CREATE TABLE [IF NOT EXISTS] table (columns, PRIMARY KEY (...)) [WITH options]
type CreateTable struct {
	Span
	Table          QualifiedName
	IfNotExists    bool
	Columns        []ColumnDefinition
	PrimaryKeys    []PrimaryKey // the PRIMARY KEY clauses; more than one is an error of the planner's
	Properties     []Property
	Order          []ClusteringOrder
	CompactStorage bool
}

// ColumnDefinition is one column of CREATE TABLE.
type ColumnDefinition struct {
	Span
	Name       string
	Type       TypeName
	Static     bool
	PrimaryKey bool  // PRIMARY KEY behind the column
	Mask       *Mask // MASKED WITH
}

// Mask is MASKED WITH DEFAULT (Default set) or a function call.
type Mask struct {
	Default bool
	Call    *Call
}

// PrimaryKey is a PRIMARY KEY (...) clause.
type PrimaryKey struct {
	Partition  []string
	Clustering []string
}

// ClusteringOrder is one item of CLUSTERING ORDER BY.
type ClusteringOrder struct {
	Column string
	Desc   bool
}

// DropTable removes a table.
//
//	DROP TABLE [IF EXISTS] table
type DropTable struct {
	Span
	Table    QualifiedName
	IfExists bool
}

func (*CreateTable) statement() {}
func (*DropTable) statement()   {}
