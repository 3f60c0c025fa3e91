package planner

import (
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// Select reads rows of a table.
type Select struct {
	Table             *schema.Table
	Selection         *Selection
	Where             *where.Clause
	Distinct          bool
	Grouping          *Grouping // nil: no GROUP BY
	Reverse           bool
	Sorts             []Sort         // set when partitions of IN must be merged by them
	Nearest           *where.Nearest // orders the rows, of which there is a limit
	Indexed           bool           // an index would find the rows
	Limit             expr.Expr      // nil: none
	PerPartitionLimit expr.Expr
	OneRow            bool   // the whole primary key is given: one row at most
	Plain             bool   // no function is called
	Statics           bool   // static columns are selected or compared
	SelectsStatics    bool   // static columns are selected
	AllowFiltering    bool   // written with ALLOW FILTERING
	Intersects        bool   // rows are compared with several values outside of their keys
	FullPartitions    bool   // partitions with static content only give a row
	Asked             []bool // by column index, the columns selected or compared besides the primary key; nil: all
	Warnings          []string
	RestrictedMasks   string // the masked columns that the WHERE clause restricts, as texts list them; "": none

	// Masked is the plan for users who may not see masked values, and MaskRefused the error if there is none; both
	// nil: no column is masked.
	Masked      *Select
	MaskRefused error
}

// selectRows plans SELECT.
func (p *planning) selectRows(s *cql.Select) (Plan, error) {
	t, err := p.scope.Table(s.Table)
	if err != nil {
		return nil, err
	}
	p.terms.About(t)
	onlyStatic, err := p.selectsOnlyStatic(t, s.Selectors)
	if err != nil {
		return nil, err
	}
	sorts, err := p.orderings(t, s.OrderBy)
	if err != nil {
		return nil, err
	}
	rs := where.New(&p.terms, t, "SELECT")
	rs.AllowFiltering, rs.OnlyStatic, rs.NeverFilters = s.AllowFiltering, onlyStatic, !p.env.Guard.MayFilter()
	if err := rs.AddRelations(s.Where); err != nil {
		return nil, err
	}
	near, err := nearest(s.OrderBy, sorts)
	if err == nil && near != nil {
		sorts, err = nil, rs.AddNearest(near)
	}
	if err == nil {
		err = where.CheckCustom(t, s.Custom)
	}
	if err != nil {
		return nil, err
	}
	plan := &Select{Table: t, Distinct: s.Distinct, AllowFiltering: s.AllowFiltering}
	if plan.Where, err = rs.Resolve(); err != nil {
		return nil, err
	}
	plan.Indexed = rs.Indexed()
	if len(s.GroupBy) > 0 {
		if err := p.env.Guard.GroupBy(); err != nil {
			return nil, err
		}
	}
	if plan.Selection, err = p.selection(t, s.Selectors, s.JSON); err != nil {
		return nil, err
	}
	if err := checkDistinct(s, plan, rs, sorts); err != nil {
		return nil, err
	}
	if plan.Grouping, err = p.grouping(t, s, rs); err != nil {
		return nil, err
	}
	if plan.AggregatesAll() && s.PerPartitionLimit != nil {
		return nil, cqlerr.Invalidf("PER PARTITION LIMIT is not allowed with aggregate queries.")
	}
	if len(sorts) > 0 {
		if rs.Indexed() {
			return nil, cqlerr.Invalidf("ORDER BY with 2ndary indexes is not supported, except for ANN queries.")
		}
		if plan.Reverse, err = reversed(t, sorts, plan.Where, rs); err != nil {
			return nil, err
		}
		if plan.Where.MultiPartition() {
			plan.Sorts = sorts
		}
	}
	if err := rs.CheckNeedsFiltering(); err != nil {
		return nil, err
	}
	plan.Intersects = plan.Where.Comparisons() > 1 && rs.NeedsFiltering()
	if near != nil {
		if plan.Nearest, err = rs.Nearest(); err != nil {
			return nil, err
		}
	}
	if plan.Limit, err = p.limit(t, "[limit]", s.Limit); err != nil {
		return nil, err
	}
	if plan.PerPartitionLimit, err = p.limit(t, "[per_partition_limit]", s.PerPartitionLimit); err != nil {
		return nil, err
	}
	if err := rs.Unfilterable(); err != nil {
		return nil, err
	}
	if masks := p.masksOf(t); len(masks) > 0 {
		plan.RestrictedMasks = listColumns(t.Columns, func(c *schema.Column) bool {
			return masks[c.Name] != nil && rs.RestrictsColumn(c)
		})
	}
	plan.settle()
	p.out.Result = plan.Selection.Columns
	plan.Warnings = aggregationWarnings(plan, rs)
	return plan, nil
}

// AggregatesAll reports whether one row is made of all rows.
func (s *Select) AggregatesAll() bool { return len(s.Selection.Aggregates) > 0 && s.Grouping == nil }

// Summarizes reports whether rows are aggregated or grouped.
func (s *Select) Summarizes() bool { return len(s.Selection.Aggregates) > 0 || s.Grouping != nil }

// limit binds LIMIT or PER PARTITION LIMIT.
func (p *planning) limit(t *schema.Table, name string, term cql.Term) (expr.Expr, error) {
	if term == nil {
		return nil, nil
	}
	return p.terms.Check(term, expr.Receiver{Keyspace: t.Keyspace, Table: t.Name, Name: name, Type: types.Int})
}

// checkDistinct refuses SELECT DISTINCT of anything that may differ inside a partition.
func checkDistinct(s *cql.Select, plan *Select, rs *where.Restrictions, sorts []Sort) error {
	if !s.Distinct {
		return nil
	}
	if s.PerPartitionLimit != nil {
		return cqlerr.Invalidf("PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries")
	}
	if rs.Restricts(schema.Regular) || rs.Restricts(schema.Clustering) {
		return cqlerr.Invalidf("SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or " +
			"static columns.")
	}
	selected := plan.selectedColumns()
	if plan.Where.MultiPartition() { // rows are read with the columns that they are merged by
		for _, o := range sorts {
			selected = append(slices.Clip(selected), o.Column)
		}
	}
	for _, c := range selected {
		if c.Kind != schema.PartitionKey && c.Kind != schema.Static {
			return cqlerr.Invalidf("SELECT DISTINCT queries must only request partition key columns and/or static columns "+
				"(not %s)", c.Name)
		}
	}
	if plan.Where.Partition != nil {
		return nil
	}
	for _, c := range plan.Table.PartitionKey {
		if !slices.Contains(selected, c) {
			return cqlerr.Invalidf("SELECT DISTINCT queries must request all the partition key columns (missing %s)", c.Name)
		}
	}
	return nil
}

// selectedColumns are the columns the selection depends on, in its order.
func (s *Select) selectedColumns() []*schema.Column {
	if s.Selection.Plain != nil {
		return s.Selection.Plain
	}
	var cols []*schema.Column
	for _, e := range s.Selection.Exprs {
		cols = append(cols, exprColumns(e)...)
	}
	return cols
}

// exprColumns are the columns an expression depends on.
func exprColumns(e expr.Expr) []*schema.Column {
	if c, ok := e.(*expr.Column); ok {
		return []*schema.Column{c.Column}
	}
	var cols []*schema.Column
	for _, part := range expr.Parts(e) {
		cols = append(cols, exprColumns(part)...)
	}
	return cols
}

func isPlainLimit(e expr.Expr) bool { return e == nil || where.IsPlain(e) }

// settle computes facts about the plan once, so that executions need not.
func (s *Select) settle() {
	isStatic := func(c *schema.Column) bool { return c.Kind == schema.Static }
	s.OneRow = s.Where.SingleRow(s.Table)
	s.Plain = s.Selection.Plain != nil && s.Where.Plain() && s.Grouping == nil && s.Nearest == nil &&
		isPlainLimit(s.Limit) && isPlainLimit(s.PerPartitionLimit)
	s.SelectsStatics = slices.ContainsFunc(s.selectedColumns(), isStatic)
	s.Statics = s.SelectsStatics
	sasi := func(f *where.Filter) bool { return f.Index != nil && f.Index.Kind() == schema.SASI } // which finds rows only
	s.FullPartitions = len(s.Table.Static) > 0 && len(s.Where.Clustering) == 0 && s.Where.Slice == nil &&
		!slices.ContainsFunc(s.Where.Filters, sasi)
	s.Asked = s.asked()
	for _, cols := range s.compared() {
		s.Statics = s.Statics || slices.ContainsFunc(cols, isStatic)
		for _, c := range cols {
			if c.Kind == schema.Clustering || c.Kind == schema.Regular {
				s.FullPartitions = false
			}
		}
	}
}

// compared are the columns that filters and the order by vectors look at.
func (s *Select) compared() [][]*schema.Column {
	var all [][]*schema.Column
	for _, f := range s.Where.Filters {
		all = append(all, f.Columns())
	}
	if s.Nearest != nil {
		all = append(all, []*schema.Column{s.Nearest.Column})
	}
	return all
}

// asked are the columns that Cassandra would fetch for their values: all if there are none.
func (s *Select) asked() (asked []bool) {
	if s.Selection.All {
		return nil
	}
	columns := s.selectedColumns()
	for _, cols := range s.compared() {
		columns = append(slices.Clip(columns), cols...)
	}
	for _, c := range columns {
		if c.Kind.IsKey() {
			continue
		}
		if asked == nil {
			asked = make([]bool, len(s.Table.Columns))
		}
		asked[c.Index] = true
	}
	return asked
}

// aggregationWarnings tells clients of aggregates and groups over more than one partition.
func aggregationWarnings(s *Select, rs *where.Restrictions) []string {
	if !s.Summarizes() {
		return nil
	}
	if !rs.Restricts(schema.PartitionKey) && !rs.RestrictsToken() {
		return []string{"Aggregation query used without partition key"}
	}
	if (!rs.RestrictsToken() || s.Where.Partition != nil) && rs.PartitionIn() {
		return []string{"Aggregation query used on multiple partition keys (IN restriction)"}
	}
	return nil
}
