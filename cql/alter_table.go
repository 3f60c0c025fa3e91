package cql

// AlterTable changes the definition of a table in one way.
//
//	ALTER TABLE [IF EXISTS] table change
type AlterTable struct {
	Span
	Table    QualifiedName
	IfExists bool
	Change   TableChange
}

// TableChange is what an ALTER TABLE does. The kinds are the structs that have a tableChange method.
type TableChange interface {
	tableChange()
	String() string // as the statement has it
}

// AddColumns adds columns.
//
//	ADD [IF NOT EXISTS] column type [STATIC] [MASKED WITH ...] | (column, ...)
type AddColumns struct {
	IfNotExists bool
	Columns     []ColumnDefinition
}

// DropColumns removes columns, perhaps only what was written up to a timestamp.
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

// AlterColumnType gives a column another type, which no Cassandra of today does.
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
