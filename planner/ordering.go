package planner

import (
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
	"github.com/cqld/cqld/planner/where"
)

// Sort is one column that the rows of several partitions are merged by.
type Sort struct {
	Column *schema.Column
	Desc   bool

	near expr.Expr // of ANN OF
}

// orderings resolves an ORDER BY clause. A column that is named again takes its last direction.
func (p *planning) orderings(t *schema.Table, items []cql.Ordering) ([]Sort, error) {
	var sorts []Sort
	for _, o := range items {
		c, err := scope.Column(t, o.Column)
		if err != nil {
			return nil, err
		}
		if o.AnnOf != nil {
			near, err := p.terms.Check(o.AnnOf, expr.ColumnReceiver(t, c))
			if err != nil {
				return nil, err
			}
			sorts = append(sorts, Sort{Column: c, near: near})
			continue
		}
		at := slices.IndexFunc(sorts, func(s Sort) bool { return s.Column == c })
		if at < 0 {
			at = len(sorts)
			sorts = append(sorts, Sort{Column: c})
		}
		sorts[at].Desc = o.Desc
	}
	return sorts, nil
}

// reversed reports whether rows must be read from last to first for the order asked for; all other
// orders than the table's and its reverse are refused.
func reversed(t *schema.Table, sorts []Sort, w *where.Clause, rs *where.Restrictions) (bool, error) {
	if w.Partition == nil {
		return false, cqlerr.Invalidf("ORDER BY is only supported when the partition key is restricted by an EQ or an IN.")
	}
	reverse, next := false, 0
	var directions []bool
	for _, s := range sorts {
		if s.Column.Kind != schema.Clustering {
			return false, cqlerr.Invalidf("Order by is currently only supported on the clustered columns of the PRIMARY KEY, "+
				"got %s", s.Column.Name)
		}
		for ; next != s.Column.Position; next++ {
			if next >= len(t.Clustering) || !rs.ByEqual(t.Clustering[next]) {
				return false, cqlerr.Invalidf("Order by currently only supports the ordering of columns following their " +
					"declared order in the PRIMARY KEY")
			}
		}
		next++
		directions = append(directions, s.Desc != s.Column.Desc)
	}
	for i, d := range directions {
		if i > 0 && d != reverse {
			return false, cqlerr.Invalidf("Unsupported order by relation")
		}
		reverse = d
	}
	return reverse, nil
}

// nearest is the order of ORDER BY column ANN OF, or nil.
func nearest(items []cql.Ordering, sorts []Sort) (*where.Nearest, error) {
	var found *where.Nearest
	for _, s := range sorts {
		switch {
		case s.near == nil:
		case found != nil:
			return nil, cqlerr.Invalidf("Cannot specify more than one ANN ordering")
		default:
			found = &where.Nearest{Column: s.Column, Value: s.near}
		}
	}
	switch {
	case found == nil:
		return nil, nil
	case len(items) > 1:
		return nil, cqlerr.Invalidf("ANN ordering does not support any other ordering")
	case items[0].Desc:
		return nil, cqlerr.Invalidf("Descending ANN ordering is not supported")
	}
	return found, nil
}
