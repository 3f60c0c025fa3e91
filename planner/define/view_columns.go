package define

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
	"github.com/cqld/cqld/planner/where"
)

// columns returns the columns of the view; the primary key comes first.
func (d *CreateView) columns(base *schema.Table) ([]*schema.Column, error) {
	selected, err := d.selected(base)
	if err != nil {
		return nil, err
	}
	key, err := d.key(selected)
	if err != nil {
		return nil, err
	}
	if err := d.checkBaseKey(base, key); err != nil {
		return nil, err
	}
	columns := key
	for _, c := range selected {
		if !slices.ContainsFunc(key, func(k *schema.Column) bool { return k.Name == c.Name }) {
			columns = append(columns, &schema.Column{Name: c.Name, Type: c.Type, Kind: schema.Regular})
		}
	}
	return columns, nil
}

// selected returns the distinct selected columns of the base table.
func (d *CreateView) selected(base *schema.Table) ([]*schema.Column, error) {
	var selected []*schema.Column
	for _, s := range d.Statement.Selectors {
		if s.Alias != "" {
			return nil, cqlerr.Invalidf("Cannot use aliases when defining a materialized view (got %s AS %s)", s.Expr, s.Alias)
		}
		ref, ok := s.Expr.(*cql.ColumnRef)
		if !ok {
			return nil, cqlerr.Invalidf("Can only select columns by name when defining a materialized view (got %s)", s.Expr)
		}
		c, err := scope.Column(base, *ref)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(selected, c) {
			selected = append(selected, c)
		}
	}
	if len(d.Statement.Selectors) == 0 {
		selected = base.Columns
		if c := base.KeepsRows(); c != nil && c.Type == types.Empty {
			return nil, cqlerr.Invalidf("Cannot include column '%s' of type empty in materialized view '%s'", c.Name,
				d.Name)
		}
	}
	for _, c := range selected {
		if c.Kind == schema.Static {
			return nil, cqlerr.Invalidf("Cannot include static column '%s' in materialized view '%s'", c.Name,
				d.Name)
		}
	}
	return selected, nil
}

// key returns the columns of the view's primary key. Columns without a clustering order keep their order in the base
// table.
func (d *CreateView) key(selected []*schema.Column) ([]*schema.Column, error) {
	s := d.Statement
	var key []*schema.Column
	for i, name := range slices.Concat(s.Key.Partition, s.Key.Clustering) {
		named := func(c *schema.Column) bool { return c.Name == name }
		at := slices.IndexFunc(selected, named)
		if at < 0 {
			return nil, cqlerr.Invalidf("Unknown column '%s' referenced in PRIMARY KEY for materialized view '%s'", name,
				s.View.Name)
		}
		if slices.ContainsFunc(key, named) {
			return nil, cqlerr.Invalidf("Duplicate column '%s' in PRIMARY KEY clause for materialized view '%s'", name,
				s.View.Name)
		}
		if err := checkViewKeyType(selected[at]); err != nil {
			return nil, err
		}
		c := &schema.Column{Name: name, Type: selected[at].Type, Kind: schema.PartitionKey, Desc: selected[at].Desc}
		if i >= len(s.Key.Partition) {
			c.Kind = schema.Clustering
		}
		key = append(key, c)
	}
	clustering := key[len(s.Key.Partition):]
	for i, o := range s.Order {
		if len(s.Order) != len(clustering) || clustering[i].Name != o.Column {
			return nil, cqlerr.Invalidf("Clustering key columns must exactly match columns in CLUSTERING ORDER BY directive")
		}
		clustering[i].Desc = o.Desc
	}
	return key, nil
}

// checkViewKeyType is checkKeyType with the error texts for views.
func checkViewKeyType(c *schema.Column) error {
	if types.IsMultiCell(c.Type) {
		kind := "collection"
		if _, ok := c.Type.(*types.UserType); ok {
			kind = "user-defined"
		}
		return cqlerr.Invalidf("Invalid non-frozen %s type '%s' for PRIMARY KEY column '%s'", kind,
			types.ExactClassName(c.Type), c.Name)
	}
	return checkNoDuration(c)
}

// checkBaseKey refuses a key that lacks a key column of the base table, or has more than one other column.
func (d *CreateView) checkBaseKey(base *schema.Table, key []*schema.Column) error {
	var missing, names []string
	for _, c := range slices.Concat(base.PartitionKey, base.Clustering) {
		if !slices.ContainsFunc(key, func(k *schema.Column) bool { return k.Name == c.Name }) {
			missing = append(missing, c.Name)
		}
	}
	if len(missing) > 0 {
		return cqlerr.Invalidf("Cannot create materialized view '%s' without primary key columns %s from base table '%s'",
			d.Name, strings.Join(missing, ", "), base.Name)
	}
	for _, c := range key {
		names = append(names, c.Name)
	}
	others := slices.DeleteFunc(schema.NamesInHashOrder(names), func(name string) bool {
		return base.Column(name).Kind.IsKey()
	})
	if len(others) > 1 {
		return cqlerr.Invalidf("Cannot include more than one non-primary key column in materialized view primary key (got "+
			"%s)", strings.Join(others, ", "))
	}
	return nil
}

// where returns the WHERE clause of the view with its values.
func (d *CreateView) where(c *schema.Catalog, base *schema.Table, run Run) ([]schema.ViewRelation, error) {
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
		if err := setTest(&relations[i], r, run); err != nil {
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

// viewRestriction returns the restriction of a relation, which may be IS NOT NULL.
func viewRestriction(rs *where.Restrictions, base *schema.Table, rel *cql.Relation) (*where.Restriction, error) {
	if rel.Op != cql.IsNotNull {
		return rs.Relation(rel)
	}
	c, err := scope.Column(base, rel.Columns[0])
	return &where.Restriction{Columns: []*schema.Column{c}}, err
}

// checkRestricted refuses key columns that may be null, and conditions on columns outside the key of the base table.
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

// setTest computes the values that rows are compared with.
func setTest(to *schema.ViewRelation, r *where.Restriction, run Run) error {
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
		values, err := pointValues(p, r.Columns, run)
		if err != nil {
			return err
		}
		to.Values = append(to.Values, values)
	}
	return nil
}

// sliceTest converts a range with one bound to a test.
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

// pointValues computes constant values, which are stored with the view.
func pointValues(p where.Point, columns []*schema.Column, r Run) ([][]byte, error) {
	if p.Tuple != nil {
		return nil, expr.NotSupported("A computed tuple in a materialized view")
	}
	values := make([][]byte, len(p.Parts))
	for i, e := range p.Parts {
		if f := expr.UserFunction(e); f != nil {
			return nil, expr.NotSupported("Calling " + f.FullName())
		}
		if expr.IsVolatile(e) {
			return nil, expr.NotSupported("A function of the time or of chance in a materialized view")
		}
		v, err := r.Work.evaluate(e, r.Env)
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
