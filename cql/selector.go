package cql

// Selector is one item of a SELECT list: an expression, perhaps with an alias.
type Selector struct {
	Span
	Expr  SelectExpr
	Alias string // "" when not given
}

// SelectExpr is what can be selected: every Term, and the forms below.
type SelectExpr interface {
	Term
}

// CountAll is count(*) or count(1).
type CountAll struct{ Span }

// CellFunction is WRITETIME(x), MAXWRITETIME(x) or TTL(x); Name is in lower case.
type CellFunction struct {
	Span
	Name string
	Arg  Term
}

// Element is x[key].
type Element struct {
	Span
	Of  Term
	Key Term
}

// Slice is x[from..to]; From or To is nil when left out.
type Slice struct {
	Span
	Of       Term
	From, To Term
}

// Field is x.name.
type Field struct {
	Span
	Of   Term
	Name string
}

func (*CountAll) term()     {}
func (*CellFunction) term() {}
func (*Element) term()      {}
func (*Slice) term()        {}
func (*Field) term()        {}
