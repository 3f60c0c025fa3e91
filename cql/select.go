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
