package cql

// Select reads rows.
//
//	SELECT [JSON] [DISTINCT] selectors FROM table [WHERE relations] [GROUP BY terms]
//	  [ORDER BY orderings] [PER PARTITION LIMIT n] [LIMIT n] [ALLOW FILTERING]
type Select struct {
	Span
	JSON, Distinct    bool
	Selectors         []Selector // none: *
	Table             QualifiedName
	Where             []Relation
	Custom            []CustomExpression
	GroupBy           []Term
	OrderBy           []Ordering
	PerPartitionLimit Term
	Limit             Term
	AllowFiltering    bool
}

// Ordering is one item of ORDER BY.
type Ordering struct {
	Column ColumnRef
	Desc   bool
	AnnOf  Term // of ORDER BY column ANN OF term
}

func (*Select) statement() {}

// Selector is one item of a SELECT list: an expression with an optional alias.
type Selector struct {
	Span
	Expr  Term
	Alias string // "" when not given
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
	Columns []ColumnRef // one, or more for a tuple or a token
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
