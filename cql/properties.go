package cql

// Property is one name = value of a WITH clause. Value is a Literal, a MapLiteral, or a ColumnRef for a
// bare word.
type Property struct {
	Span
	Name  string
	Value Term
}
