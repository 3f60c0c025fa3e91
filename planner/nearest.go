package planner

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
)

// Nearest orders rows by how near their vectors are to one that is given.
type Nearest struct {
	Column *schema.Column
	Value  expr.Expr
	Index  *schema.Index
	Score  expr.Expr // the larger the nearer
}

// nearest is what ORDER BY column ANN OF asks for, as the restriction that Cassandra makes of it: indexes serve it.
func nearest(items []cql.Ordering, sorts []Sort) (*restriction, error) {
	var found *restriction
	for i, s := range sorts {
		switch {
		case s.near == nil:
		case found != nil:
			return nil, cqlerr.Invalidf("Cannot specify more than one ANN ordering")
		default:
			found = &restriction{columns: []*schema.Column{s.Column}, nearest: &Nearest{Column: s.Column, Value: sorts[i].near}}
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

// nearest is the restriction of ANN OF, or nil.
func (set restrictionSet) nearest() *restriction {
	for _, r := range set {
		if r.nearest != nil {
			return r
		}
	}
	return nil
}

// order finishes an order by vectors: an index decides how they are compared.
func (rs *restrictions) order(near *restriction) (*Nearest, error) {
	n := *near.nearest
	n.Index = rs.table.Indexes[slices.IndexFunc(rs.table.Indexes, func(x *schema.Index) bool {
		return near.servedBy(x, n.Column)
	})]
	name := "similarity_" + strings.ToLower(n.Index.Similarity())
	f, err := functions.Resolve(name, []types.Type{n.Column.Type, n.Column.Type})
	if err != nil {
		return nil, err
	}
	n.Score = expr.NewCall(f, []expr.Expr{&expr.Column{Column: n.Column}, n.Value})
	return &n, nil
}

// checkVectors refuses comparisons of vectors that have an index, and orders by vectors beside restrictions that have
// none.
func (rs *restrictions) checkVectors() error {
	near := rs.other.nearest()
	if near == nil {
		if slices.ContainsFunc(rs.other, func(r *restriction) bool { return isVector(r.columns[0]) && rs.hasIndex(r.columns[0]) }) {
			return cqlerr.Invalidf("Vector indexes only support ANN queries")
		}
		return nil
	}
	c := near.columns[0]
	if v, ok := c.Type.(*types.Vector); !ok || v.Elem != types.Float {
		return cqlerr.Invalidf("ANN ordering is only supported on float vector indexes")
	}
	if !rs.hasIndex(c) {
		return errNearestIndex()
	}
	missing := len(rs.partition.unrestricted(rs.table.PartitionKey)) > 0
	filtersKeys := len(rs.partition) > 0 && (missing || rs.partition.hasSlice() || rs.partition.hasContains())
	wholeKey := !missing || rs.token != nil && len(rs.partition) == 0
	bad := filtersKeys
	for _, r := range rs.other {
		bad = bad || r != near && !rs.hasIndex(r.columns[0])
	}
	for _, r := range rs.clustering {
		if slices.ContainsFunc(r.columns, func(c *schema.Column) bool { return !rs.hasIndex(c) }) {
			bad = bad || !wholeKey || rs.clusteringFilters()
		}
	}
	if bad {
		return cqlerr.Invalidf("ANN ordering by vector requires all restricted scope.Column(s) to be indexed")
	}
	if rs.allowFiltering && !near.served(rs.table.Indexes) {
		return errNearestIndex() // an index of the first kind is there; Cassandra fails on the way
	}
	return nil
}

func errNearestIndex() error {
	return cqlerr.Invalidf("ANN ordering by vector requires the column to be indexed")
}

// hasIndex reports whether a column has an index of any kind.
func (rs *restrictions) hasIndex(c *schema.Column) bool { return len(rs.table.IndexesOn(c.Name)) > 0 }

func isVector(c *schema.Column) bool {
	_, ok := c.Type.(*types.Vector)
	return ok
}
