package cql

// Delete removes rows, cells or collection elements.
//
//	DELETE [targets] FROM table [USING TIMESTAMP ts] WHERE relations [IF conditions]
type Delete struct {
	Span
	Table   QualifiedName
	Targets []DeleteTarget // none: whole rows
	Using   Using
	Where   []Relation
	Custom  []CustomExpression
	If      Conditions
}

// DeleteTarget is a column, column[key] or column.field.
type DeleteTarget struct {
	Span
	Column ColumnRef
	Key    Term
	Field  string
}

func (*Delete) statement() {}
