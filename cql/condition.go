package cql

// Condition is one condition of an IF clause: the same forms on one column.
type Condition struct {
	Span
	Column ColumnRef
	Key    Term   // column[key]
	Field  string // column.field
	Op     Operator
	Value  Term
	Values Terms // as in Relation
}

// Conditions is an IF clause.
type Conditions struct {
	NotExists bool
	Exists    bool
	List      []Condition
}

// Any reports whether there is an IF clause at all.
func (c Conditions) Any() bool { return c.NotExists || c.Exists || len(c.List) > 0 }
