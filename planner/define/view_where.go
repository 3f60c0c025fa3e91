package define

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
	"github.com/cqld/cqld/planner/where"
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
	terms := &expr.Checker{Scope: expr.Scope{Names: scope.New(c, d.Keyspace)}, Info: &expr.Info{}}
	terms.About(base)
	rs := where.New(terms, base, "SELECT")
	rs.AllowFiltering = true
	relations := make([]schema.ViewRelation, len(s.Where))
	var restricted []string
	for i := range s.Where {
		rel := &s.Where[i]
		r, err := viewRestriction(rs, base, rel)
		if err != nil {
			return nil, err
		}
		if rel.Op != cql.IsNotNull {
			if err := rs.Add(r); err != nil {
				return nil, err
			}
		}
		for _, c := range r.Columns {
			relations[i].Columns = append(relations[i].Columns, c.Name)
		}
		restricted = append(restricted, relations[i].Columns...)
		relations[i].Tuple, relations[i].Rest = rel.Tuple, where.RelationRest(terms.Info, rel)
		if err := setTest(&relations[i], r); err != nil {
			return nil, err
		}
	}
	if _, err := rs.Resolve(); err != nil {
		return nil, err
	}
	if err := d.checkRestricted(rs, restricted); err != nil {
		return nil, err
	}
	return relations, rs.Unfilterable()
}

// viewRestriction is restriction for a view, where there may be IS NOT NULL.
func viewRestriction(rs *where.Restrictions, base *schema.Table, rel *cql.Relation) (*where.Restriction, error) {
	if rel.Op != cql.IsNotNull {
		return rs.Relation(rel)
	}
	c, err := scope.Column(base, rel.Columns[0])
	return &where.Restriction{Columns: []*schema.Column{c}}, err
}

// checkRestricted refuses a key that may be null, and conditions on what is not in the key of the base.
func (d *CreateView) checkRestricted(rs *where.Restrictions, restricted []string) error {
	key := slices.Concat(d.Statement.Key.Partition, d.Statement.Key.Clustering)
	free := slices.DeleteFunc(schema.NamesInHashOrder(key), func(name string) bool {
		return slices.Contains(restricted, name)
	})
	if len(free) > 0 {
		return cqlerr.Invalidf("Primary key columns %s must be restricted with 'IS NOT NULL' or otherwise",
			strings.Join(free, ", "))
	}
	if others := schema.ColumnNames(rs.Others()); len(others) > 0 {
		return cqlerr.Invalidf("Non-primary key columns can only be restricted with 'IS NOT NULL' (got: %s restricted "+
			"illegally)", strings.Join(others, ","))
	}
	return nil
}

// setTest computes what rows are compared with.
func setTest(to *schema.ViewRelation, r *where.Restriction) error {
	var points []where.Point
	switch {
	case r.Choice != nil && r.Choice.List != nil:
		return expr.NotSupported("IN with a computed list in a materialized view")
	case r.Choice != nil:
		to.Test, points = schema.OneOf, r.Choice.Points
	case r.Slice != nil:
		var b *where.Bound
		to.Test, b = sliceTest(r.Slice)
		points = []where.Point{b.Point}
	case r.Contains != nil:
		to.Test = schema.HasElement
		if r.Contains[0].Keys {
			to.Test = schema.HasKey
		}
		points = []where.Point{{Parts: []expr.Expr{r.Contains[0].Value}}}
	}
	for _, p := range points {
		values, err := pointValues(p, r.Columns)
		if err != nil {
			return err
		}
		to.Values = append(to.Values, values)
	}
	return nil
}

// sliceTest is a range with one bound as a test.
func sliceTest(r *where.Range) (schema.ViewTest, *where.Bound) {
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
func pointValues(p where.Point, columns []*schema.Column) ([][]byte, error) {
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
