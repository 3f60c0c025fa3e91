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

// Using is a USING clause; nil where an option is not given.
type Using struct {
	Timestamp Term
	TTL       Term
}

// BatchKind is the word between BEGIN and BATCH.
type BatchKind uint8

// The kinds, with the numbers of the BATCH message.
const (
	LoggedBatch BatchKind = iota
	UnloggedBatch
	CounterBatch
)

// Batch applies modifications as one unit.
//
//	BEGIN [UNLOGGED | COUNTER] BATCH [USING options] statements APPLY BATCH
type Batch struct {
	Span
	Kind       BatchKind
	Using      Using
	Statements []Statement // Insert, Update or Delete
}

func (*Batch) statement() {}

// Truncate removes all rows of a table.
//
//	TRUNCATE [TABLE] table
type Truncate struct {
	Span
	Table QualifiedName
}

func (*Truncate) statement() {}

// Use sets the session's keyspace.
//
//	USE keyspace
type Use struct {
	Span
	Keyspace string
}

func (*Use) statement() {}
