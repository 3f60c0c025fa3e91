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

// DropKeyspace removes a keyspace and everything in it.
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

// CreateTable defines a table.
//
//	CREATE TABLE [IF NOT EXISTS] table (columns, PRIMARY KEY (...)) [WITH options]
type CreateTable struct {
	Span
	Table          QualifiedName
	IfNotExists    bool
	Columns        []ColumnDefinition
	PrimaryKeys    []PrimaryKey // the PRIMARY KEY clauses; the planner refuses more than one
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
	PrimaryKey bool  // PRIMARY KEY after the column
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

// AlterTable changes the definition of a table in one way.
//
//	ALTER TABLE [IF EXISTS] table change
type AlterTable struct {
	Span
	Table    QualifiedName
	IfExists bool
	Change   TableChange
}

// TableChange is the change of an ALTER TABLE. The kinds are the structs with a tableChange method.
type TableChange interface {
	tableChange()
	String() string // as in the statement
}

// AddColumns adds columns.
//
//	ADD [IF NOT EXISTS] column type [STATIC] [MASKED WITH ...] | (column, ...)
type AddColumns struct {
	IfNotExists bool
	Columns     []ColumnDefinition
}

// DropColumns removes columns, or only their values up to a timestamp.
//
//	DROP [IF EXISTS] column | (column, ...) [USING TIMESTAMP n]
type DropColumns struct {
	IfExists  bool
	Columns   []string
	Timestamp *Literal // nil when not given
}

// RenameColumns gives columns other names.
//
//	RENAME [IF EXISTS] column TO name [AND ...]
type RenameColumns struct {
	IfExists bool
	Renames  []Rename
}

// Rename is one item of RENAME.
type Rename struct{ From, To string }

// AlterColumnType changes the type of a column, which Cassandra no longer supports.
//
//	ALTER column TYPE type
type AlterColumnType struct {
	Column string
	Type   TypeName
}

// MaskColumn sets or removes the mask of a column.
//
//	ALTER [IF EXISTS] column MASKED WITH ... | DROP MASKED
type MaskColumn struct {
	IfExists bool
	Column   string
	Mask     *Mask // nil: DROP MASKED
}

// DropCompactStorage makes a table that was compact an ordinary one.
//
//	DROP COMPACT STORAGE
type DropCompactStorage struct{}

// SetTableOptions changes options.
//
//	WITH properties
type SetTableOptions struct{ Properties []Property }

func (*AlterTable) statement() {}

func (*AddColumns) tableChange()         {}
func (*DropColumns) tableChange()        {}
func (*RenameColumns) tableChange()      {}
func (*AlterColumnType) tableChange()    {}
func (*MaskColumn) tableChange()         {}
func (*DropCompactStorage) tableChange() {}
func (*SetTableOptions) tableChange()    {}

// CreateIndex defines an index on columns of a table.
//
//	CREATE [CUSTOM] INDEX [IF NOT EXISTS] [name] ON table (targets) [USING 'class'] [WITH properties]
type CreateIndex struct {
	Span
	Name        string // "" when the server shall make one
	Table       QualifiedName
	Custom      bool
	IfNotExists bool
	Targets     []IndexTarget
	Using       *string // the class; nil when not given
	Properties  []Property
}

// IndexTarget is a column and its indexed part.
type IndexTarget struct {
	Span
	Kind   IndexTargetKind
	Column string
}

// IndexTargetKind is the word before the column.
type IndexTargetKind uint8

// The words: none, or one that selects a part of a collection.
const (
	IndexColumn IndexTargetKind = iota
	IndexValues
	IndexKeys
	IndexEntries
	IndexFull
)

// DropIndex removes an index.
//
//	DROP INDEX [IF EXISTS] index
type DropIndex struct {
	Span
	Index    QualifiedName
	IfExists bool
}

func (*CreateIndex) statement() {}
func (*DropIndex) statement()   {}

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

// CreateTrigger names a class that is called for writes to a table.
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
