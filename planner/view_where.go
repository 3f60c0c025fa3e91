package planner

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
)

// where is the WHERE clause of the view with its values.
func (d *CreateView) where(c *schema.Catalog, base *schema.Table) ([]schema.ViewRelation, error) {
	s := d.Statement
	if slices.ContainsFunc(s.Where, func(r cql.Relation) bool { return r.Token }) {
		return nil, cqlerr.Invalidf("Cannot use token relation when defining a materialized view")
	}
	if len(s.Custom) > 0 {
		return nil, cqlerr.Invalidf("WHERE clause for materialized view '%s' cannot contain custom index expressions",
			s.View.Name)
	}
	p := &planning{scope: scope.New(c, d.Keyspace), out: &Prepared{}}
	p.terms = expr.Checker{Scope: expr.Scope{Names: p.scope}, Info: &p.info}
	p.terms.About(base)
	rs := &restrictions{table: base, verb: "SELECT", allowFiltering: true}
	relations := make([]schema.ViewRelation, len(s.Where))
	var restricted []string
	for i := range s.Where {
		rel := &s.Where[i]
		r, err := p.viewRestriction(base, rel)
		if err != nil {
			return nil, err
		}
		if rel.Op != cql.IsNotNull {
			if err := rs.add(r); err != nil {
				return nil, err
			}
		}
		for _, c := range r.columns {
			relations[i].Columns = append(relations[i].Columns, c.Name)
		}
		restricted = append(restricted, relations[i].Columns...)
		relations[i].Tuple, relations[i].Rest = rel.Tuple, relationRest(&p.info, rel)
		if err := setTest(&relations[i], r); err != nil {
			return nil, err
		}
	}
	if _, err := rs.resolve(); err != nil {
		return nil, err
	}
	if err := d.checkRestricted(rs, restricted); err != nil {
		return nil, err
	}
	return relations, rs.unfilterable
}

// viewRestriction is restriction for a view, where there may be IS NOT NULL.
func (p *planning) viewRestriction(base *schema.Table, rel *cql.Relation) (*restriction, error) {
	if rel.Op != cql.IsNotNull {
		return p.restriction(base, rel)
	}
	c, err := scope.Column(base, rel.Columns[0])
	return &restriction{columns: []*schema.Column{c}}, err
}

// checkRestricted refuses a key that may be null, and conditions on what is not in the key of the base.
func (d *CreateView) checkRestricted(rs *restrictions, restricted []string) error {
	key := slices.Concat(d.Statement.Key.Partition, d.Statement.Key.Clustering)
	free := slices.DeleteFunc(expr.HashOrder(key), func(name string) bool { return slices.Contains(restricted, name) })
	if len(free) > 0 {
		return cqlerr.Invalidf("Primary key columns %s must be restricted with 'IS NOT NULL' or otherwise",
			strings.Join(free, ", "))
	}
	var others []string
	for _, r := range rs.other {
		others = append(others, r.columns[0].Name)
	}
	if len(others) > 0 {
		return cqlerr.Invalidf("Non-primary key columns can only be restricted with 'IS NOT NULL' (got: %s restricted "+
			"illegally)", strings.Join(others, ","))
	}
	return nil
}

// setTest computes what rows are compared with.
func setTest(to *schema.ViewRelation, r *restriction) error {
	var points []Point
	switch {
	case r.choice != nil && r.choice.List != nil:
		return expr.NotSupported("IN with a computed list in a materialized view")
	case r.choice != nil:
		to.Test, points = schema.OneOf, r.choice.Points
	case r.slice != nil:
		var b *Bound
		to.Test, b = sliceTest(r.slice)
		points = []Point{b.Point}
	case r.contains != nil:
		to.Test = schema.HasElement
		if r.contains[0].Keys {
			to.Test = schema.HasKey
		}
		points = []Point{{Parts: []expr.Expr{r.contains[0].Value}}}
	}
	for _, p := range points {
		values, err := pointValues(p, r.columns)
		if err != nil {
			return err
		}
		to.Values = append(to.Values, values)
	}
	return nil
}

// sliceTest is a range with one bound as a test.
func sliceTest(r *Range) (schema.ViewTest, *Bound) {
	switch {
	case r.Lower != nil && r.Lower.Inclusive:
		return schema.GreaterEq, r.Lower
	case r.Lower != nil:
		return schema.Greater, r.Lower
	case r.Upper.Inclusive:
		return schema.LessEq, r.Upper
	}
	return schema.Less, r.Upper
}

// pointValues computes values that never change: they are kept with the view.
func pointValues(p Point, columns []*schema.Column) ([][]byte, error) {
	if p.Tuple != nil {
		return nil, expr.NotSupported("A computed tuple in a materialized view")
	}
	values := make([][]byte, len(p.Parts))
	for i, e := range p.Parts {
		if expr.IsVolatile(e) {
			return nil, expr.NotSupported("A function of the time or of chance in a materialized view")
		}
		v, err := e.Eval(&expr.Context{})
		if err != nil {
			return nil, err
		}
		if v.Bytes == nil {
			return nil, cqlerr.Invalidf("Invalid null value in condition for column %s", columns[min(i, len(columns)-1)].Name)
		}
		values[i] = v.Bytes
	}
	return values, nil
}
