package cql

// Update writes cells.
//
//	UPDATE table [USING options] SET assignments WHERE relations [IF conditions]
type Update struct {
	Span
	Table  QualifiedName
	Using  Using
	Set    []Assignment
	Where  []Relation
	Custom []CustomExpression
	If     Conditions
}

func (*Update) statement() {}
