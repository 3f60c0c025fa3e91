package cql

// Insert writes a row.
//
//	INSERT INTO table (columns) VALUES (terms) [IF NOT EXISTS] [USING options]
//	INSERT INTO table JSON term [DEFAULT NULL | DEFAULT UNSET] [IF NOT EXISTS] [USING options]
type Insert struct {
	Span
	Table        QualifiedName
	Columns      []ColumnRef
	Values       []Term
	JSON         Term // of the second form
	DefaultUnset bool
	If           Conditions
	Using        Using
}

func (*Insert) statement() {}
