package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
)

// Selection is a SELECT list: either Plain columns, or expressions.
type Selection struct {
	Columns    []ResultColumn
	Plain      []*schema.Column // when all selectors are columns
	Exprs      []expr.Expr      // else
	Aggregates []*expr.Aggregate
	Beforehand []expr.Expr // parts that no row matters to, computed when an execution begins
	Meta       bool        // WRITETIME or TTL is asked for
	All        bool        // the list is *
}

// selection plans a SELECT list; none is *. As JSON it is a single column.
func (p *planning) selection(t *schema.Table, selectors []cql.Selector, asJSON bool) (*Selection, error) {
	s := &Selection{}
	if len(selectors) == 0 {
		s.All = true
		for _, c := range t.Shown() {
			shown, err := p.shown(c)
			if err != nil {
				return nil, err
			}
			s.add(t, c.Name, shown)
		}
	}
	terms := p.terms.Selection()
	terms.Masked = p.masked
	for _, sel := range selectors {
		e, err := terms.Check(sel.Expr, expr.Receiver{})
		if err != nil {
			return nil, err
		}
		name := sel.Alias
		if name == "" {
			name = terms.Name(sel.Expr)
		}
		s.add(t, name, e)
	}
	s.Aggregates, s.Meta = p.info.Aggregates, p.info.Cells
	if asJSON {
		s.asJSON(t)
	}
	for _, e := range s.Exprs {
		s.Beforehand = append(s.Beforehand, expr.Beforehand(e)...)
	}
	if plain := plainColumns(s.Exprs); plain != nil {
		s.Plain, s.Exprs = plain, nil
	}
	return s, nil
}

// shown is a column of SELECT *.
func (p *planning) shown(c *schema.Column) (expr.Expr, error) {
	if p.masked != nil {
		return p.masked(c)
	}
	return &expr.Column{Column: c}, nil
}

// add puts one more column into the result.
func (s *Selection) add(t *schema.Table, name string, e expr.Expr) {
	c, isColumn := e.(*expr.Column)
	s.Columns = append(s.Columns, ResultColumn{
		Keyspace: t.Keyspace, Table: t.Name, Name: name, Type: e.Type(), Desc: isColumn && c.Column.Desc,
	})
	s.Exprs = append(s.Exprs, e)
}

// asJSON makes one column of all.
func (s *Selection) asJSON(t *schema.Table) {
	row := &expr.JSONRow{Values: s.Exprs}
	for _, c := range s.Columns {
		row.Names = append(row.Names, c.Name)
	}
	s.Columns, s.Exprs = nil, nil
	s.add(t, "[json]", row)
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

// selectsOnlyStatic reports whether static columns are selected, and nothing else but partition keys. Cassandra
// asks this first, and complains at once of an unknown column or a wrong call on the way to the answer; others wait.
func (p *planning) selectsOnlyStatic(t *schema.Table, selectors []cql.Selector) (bool, error) {
	if len(t.Static) == 0 || t.Compact == schema.CompactStatic {
		return false, nil
	}
	static, err := p.anySelected(t, selectors, func(k schema.ColumnKind) bool { return k == schema.Static })
	if err != nil || !static {
		return false, err
	}
	other, err := p.anySelected(t, selectors, func(k schema.ColumnKind) bool { return k == schema.Clustering || k == schema.Regular })
	return !other, err
}

// anySelected looks for a selected column of some kind, and no further than to the first. It resolves selectors on its
// way.
func (p *planning) anySelected(t *schema.Table, selectors []cql.Selector, is func(schema.ColumnKind) bool) (bool, error) {
	terms := p.terms.Selection()
	for _, s := range selectors {
		if err := terms.Resolve(s.Expr); err != nil {
			return false, err
		}
		for _, ref := range expr.ColumnRefs(s.Expr) {
			c, err := scope.Column(t, *ref)
			if err != nil || is(c.Kind) {
				return err == nil, err
			}
		}
	}
	return false, nil
}
