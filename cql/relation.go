package cql

// Operator is the operator of a relation or condition.
type Operator uint8

// The operators of the language.
const (
	Eq Operator = iota
	NotEq
	Less
	LessEq
	Greater
	GreaterEq
	In
	Contains
	ContainsKey
	Like
	IsNotNull
)

// Relation is one condition of a WHERE clause.
//
//	a = 1    a IN (1, 2)    a IN ?    (a, b) > (1, 2)    token(a) > 3    m['k'] = 1    a CONTAINS 1
type Relation struct {
	Span
	Columns []ColumnRef // one, or several for a tuple or a token
	Tuple   bool        // (a, b) on the left, perhaps with one column
	Token   bool        // token(a, b) on the left
	Key     Term        // the entry of m[key]
	Op      Operator
	Value   Term  // the right side; nil for IN with a list, and for IS NOT NULL
	Values  Terms // the list of IN (a, b); its parts are not nil when the list was written, even empty
}

// CustomExpression is expr(index, value) in a WHERE clause.
type CustomExpression struct {
	Span
	Index string
	Value Term
}
