package cql

// Term is a value as written on the right of a relation, in VALUES, in SET, or in a selection.
type Term interface {
	term()
	String() string // the term as CQL
	Position() Span // in the text that was parsed
}

// LiteralKind is the shape of a literal.
type LiteralKind uint8

// The shapes of literals. Null is the only one without a value of its own.
const (
	StringLiteral LiteralKind = iota
	IntegerLiteral
	FloatLiteral
	BooleanLiteral
	HexLiteral
	UUIDLiteral
	DurationLiteral
	NullLiteral
)

// Literal is a constant: Text holds a string's content without quotes and doubled quotes, and everything
// else as written.
type Literal struct {
	Span
	Kind LiteralKind
	Text string
}

// Marker is a bind marker, ? or :name. Index counts the statement's markers from 0 in order of the text.
type Marker struct {
	Span
	Name  string // "" for ?
	Index int
}

// ListLiteral is [a, b]: a list or a vector.
type ListLiteral struct {
	Span
	Elements Terms
}

// SetLiteral is {a, b}; empty it may also be a map.
type SetLiteral struct {
	Span
	Elements Terms
}

// MapLiteral is {k: v, ...}.
type MapLiteral struct {
	Span
	Keys, Values Terms
}

// UserTypeLiteral is {field: value, ...}.
type UserTypeLiteral struct {
	Span
	Fields []string
	Values []Term
}

// TupleLiteral is (a, b, ...).
type TupleLiteral struct {
	Span
	Elements []Term
}

// Call is a function call: now(), token(a, b).
type Call struct {
	Span
	Function QualifiedName
	Args     []Term
}

// Cast is CAST(term AS type).
type Cast struct {
	Span
	Value Term
	Type  TypeName
}

// TypeHint is (type) term.
type TypeHint struct {
	Span
	Type  TypeName
	Value Term
}

// Arithmetic is left op right with op one of + - * / %, or -right when Left is nil.
type Arithmetic struct {
	Span
	Op    byte
	Left  Term
	Right Term
}

// ColumnRef is a column's name. It is a term only in selections.
type ColumnRef struct {
	Span
	Name string
}

func (*Literal) term()         {}
func (*Marker) term()          {}
func (*ListLiteral) term()     {}
func (*SetLiteral) term()      {}
func (*MapLiteral) term()      {}
func (*UserTypeLiteral) term() {}
func (*TupleLiteral) term()    {}
func (*Call) term()            {}
func (*Cast) term()            {}
func (*TypeHint) term()        {}
func (*Arithmetic) term()      {}
func (*ColumnRef) term()       {}
