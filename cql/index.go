package cql

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

// IndexTarget is a column and what of it is indexed.
type IndexTarget struct {
	Span
	Kind   IndexTargetKind
	Column string
}

// IndexTargetKind is the word before the column.
type IndexTargetKind uint8

// The words: none, and those that choose a part of a collection.
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
