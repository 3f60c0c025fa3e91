package cql

// AssignmentOp is the kind of an Assignment.
type AssignmentOp uint8

// The kinds of assignments: c = x; c = c + x and c += x; c = c - x and c -= x; c = x + c.
const (
	Assign AssignmentOp = iota
	Append
	Subtract
	Prepend
)

// Assignment is one item of SET.
type Assignment struct {
	Span
	Column ColumnRef
	Key    Term   // column[key] = value
	Field  string // column.field = value
	Op     AssignmentOp
	Value  Term
}
