package planner

import (
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
)

// Selection is what a SELECT list makes of rows: either Plain columns, or expressions.
type Selection struct {
	Columns    []ResultColumn
	Plain      []*schema.Column // when all selectors are columns
	Exprs      []expr.Expr      // else
	Aggregates []*expr.Aggregate
	Beforehand []expr.Expr // parts that no row matters to, computed when an execution begins
	Meta       bool        // WRITETIME or TTL is asked for
	All        bool        // the list is *
}

// selecting is the work on a SELECT list.
type selecting struct {
	*planning
	table *schema.Table
	out   *Selection
	inner bool // inside the arguments of an aggregate
	*prepared
}

// selection plans a SELECT list; none is *. As JSON it is a single column.
func (p *planning) selection(t *schema.Table, selectors []cql.Selector, asJSON bool) (*Selection, error) {
	s := p.selecting(t)
	defer s.done()
	if len(selectors) == 0 {
		s.out.All = true
		for _, c := range t.Shown() {
			s.add(c.Name, &expr.Column{Column: c})
		}
	}
	for _, sel := range selectors {
		if err := s.prepare(sel.Expr); err != nil {
			return nil, err
		}
		e, err := s.expression(sel.Expr, nil)
		if err != nil {
			return nil, err
		}
		name := sel.Alias
		if name == "" {
			name = s.name(sel.Expr)
		}
		s.add(name, e)
	}
	if asJSON {
		s.asJSON()
	}
	for _, e := range s.out.Exprs {
		s.out.Beforehand = append(s.out.Beforehand, expr.Beforehand(e)...)
	}
	if plain := plainColumns(s.out.Exprs); plain != nil {
		s.out.Plain, s.out.Exprs = plain, nil
	}
	return s.out, nil
}

// add puts one more column into the result.
func (s *selecting) add(name string, e expr.Expr) {
	c, isColumn := e.(*expr.Column)
	s.out.Columns = append(s.out.Columns, ResultColumn{
		Keyspace: s.table.Keyspace, Table: s.table.Name, Name: name,
		Type: e.Type(), Desc: isColumn && c.Column.Desc,
	})
	s.out.Exprs = append(s.out.Exprs, e)
}

// asJSON makes one column of all.
func (s *selecting) asJSON() {
	row := &expr.JSONRow{Values: s.out.Exprs}
	for _, c := range s.out.Columns {
		row.Names = append(row.Names, c.Name)
	}
	s.out.Columns, s.out.Exprs = nil, nil
	s.add("[json]", row)
}

// plainColumns are the columns that expressions consist of, or nil if one is anything else.
func plainColumns(exprs []expr.Expr) []*schema.Column {
	cols := make([]*schema.Column, len(exprs))
	for i, e := range exprs {
		c, ok := e.(*expr.Column)
		if !ok {
			return nil
		}
		cols[i] = c.Column
	}
	return cols
}

// expression plans a selected term. What has no type of its own gets the expected one; nil: none is.
func (s *selecting) expression(t cql.SelectExpr, expected types.Type) (expr.Expr, error) {
	switch t := t.(type) {
	case *cql.ColumnRef:
		c, err := scope.Column(s.table, *t)
		if err != nil {
			return nil, err
		}
		if s.firstColumn == nil {
			s.firstColumn = c
		}
		return &expr.Column{Column: c}, nil
	case *cql.CountAll:
		return s.aggregate(&expr.Aggregate{})
	case *cql.CellFunction:
		return s.cellFunction(t)
	case *cql.Call:
		if isCountAll(t) {
			return s.aggregate(&expr.Aggregate{})
		}
		return s.apply(s.functions[t], t.Args)
	case *cql.Arithmetic:
		return s.apply(s.functions[t], expr.Operands(t))
	case *cql.Cast:
		return s.cast(t)
	case *cql.TypeHint:
		return s.hint(t)
	case *cql.Literal, *cql.Marker:
		if expected == nil {
			return nil, s.noType(t)
		}
		r := expr.Receiver{Keyspace: s.table.Keyspace, Table: s.table.Name, Name: "[selection]", Type: expected}
		return s.binder.Bind(t, r)
	case *cql.Element:
		return s.element(t)
	case *cql.Slice:
		return s.slice(t, expected)
	case *cql.Field:
		return s.field(t)
	}
	return s.composed(t, expected)
}

// noType is for a selector whose type nothing tells.
func (s *selecting) noType(t cql.Term) error {
	return cqlerr.Invalidf("Cannot infer type for term %s in selection clause (try using a cast to force a type)", s.name(t))
}

// aggregate registers an aggregate.
func (s *selecting) aggregate(a *expr.Aggregate) (expr.Expr, error) {
	if s.inner {
		return nil, cqlerr.Invalidf("aggregate functions cannot be used as arguments of aggregate functions")
	}
	a.Index = len(s.out.Aggregates)
	s.out.Aggregates = append(s.out.Aggregates, a)
	return a, nil
}

// cellFunction plans WRITETIME, MAXWRITETIME and TTL of a column or of parts of one.
func (s *selecting) cellFunction(f *cql.CellFunction) (expr.Expr, error) {
	c, err := scope.Column(s.table, *cellColumn(f.Arg))
	if err != nil {
		return nil, err
	}
	if c.Kind.IsKey() {
		return nil, cqlerr.Invalidf("Cannot use selection function %s on PRIMARY KEY part %s", f.Name, c.Name)
	}
	of, err := s.expression(f.Arg, nil)
	if err != nil {
		return nil, err
	}
	s.out.Meta = true
	return &expr.Stamp{Name: f.Name, Of: of}, nil
}

// cellColumn is the column that WRITETIME or TTL is asked of.
func cellColumn(t cql.Term) *cql.ColumnRef { return columnRefs(t)[0] }

// isCountAll reports whether a call is count of a literal that is not null, which is count(*).
func isCountAll(c *cql.Call) bool {
	if c.Function.Name != "count" || !expr.IsNative(c.Function) || len(c.Args) != 1 {
		return false
	}
	l, ok := c.Args[0].(*cql.Literal)
	return ok && l.Kind != cql.NullLiteral
}

// containsAggregate reports whether e depends on an aggregate.
func containsAggregate(e expr.Expr) bool {
	_, is := e.(*expr.Aggregate)
	return is || slices.ContainsFunc(expr.Parts(e), containsAggregate)
}
