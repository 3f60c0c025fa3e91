package define

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/scope"
)

// columns are the columns of the view, first those of its primary key.
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

// selected are the columns of the base that are selected, each once.
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
				d.Statement.View.Name)
		}
	}
	for _, c := range selected {
		if c.Kind == schema.Static {
			return nil, cqlerr.Invalidf("Cannot include static column '%s' in materialized view '%s'", c.Name,
				d.Statement.View.Name)
		}
	}
	return selected, nil
}

// key are the columns of the view's primary key. Those that the clustering order says nothing of keep the order that
// they have in the base.
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

// checkViewKeyType refuses types that cannot be in a primary key, in other words than checkKeyType.
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

// checkBaseKey refuses a key in which rows of the base could meet, or that is more than one column away from theirs.
func (d *CreateView) checkBaseKey(base *schema.Table, key []*schema.Column) error {
	var missing, names []string
	for _, c := range slices.Concat(base.PartitionKey, base.Clustering) {
		if !slices.ContainsFunc(key, func(k *schema.Column) bool { return k.Name == c.Name }) {
			missing = append(missing, c.Name)
		}
	}
	if len(missing) > 0 {
		return cqlerr.Invalidf("Cannot create materialized view '%s' without primary key columns %s from base table '%s'",
			d.Statement.View.Name, strings.Join(missing, ", "), base.Name)
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
