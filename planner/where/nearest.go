package where

import (
	"slices"
	"strings"

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

// AddNearest adds the order of ORDER BY column ANN OF, as the restriction that Cassandra makes of it: indexes serve
// it.
func (rs *Restrictions) AddNearest(n *Nearest) error {
	return rs.other.add(&Restriction{Columns: []*schema.Column{n.Column}, nearest: n})
}

// nearest is the restriction of ANN OF, or nil.
func (set restrictionSet) nearest() *Restriction {
	for _, r := range set {
		if r.nearest != nil {
			return r
		}
	}
	return nil
}

// Nearest finishes the order by vectors that was added: an index decides how they are compared.
func (rs *Restrictions) Nearest() (*Nearest, error) {
	near := rs.other.nearest()
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
func (rs *Restrictions) checkVectors() error {
	near := rs.other.nearest()
	if near == nil {
		compared := func(r *Restriction) bool { return isVector(r.Columns[0]) && rs.hasIndex(r.Columns[0]) }
		if slices.ContainsFunc(rs.other, compared) {
			return cqlerr.Invalidf("Vector indexes only support ANN queries")
		}
		return nil
	}
	c := near.Columns[0]
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
		bad = bad || r != near && !rs.hasIndex(r.Columns[0])
	}
	for _, r := range rs.clustering {
		if slices.ContainsFunc(r.Columns, func(c *schema.Column) bool { return !rs.hasIndex(c) }) {
			bad = bad || !wholeKey || rs.clusteringFilters()
		}
	}
	if bad {
		return cqlerr.Invalidf("ANN ordering by vector requires all restricted column(s) to be indexed")
	}
	if rs.AllowFiltering && !near.served(rs.table.Indexes) {
		return errNearestIndex() // an index of the first kind is there; Cassandra fails on the way
	}
	return nil
}

func errNearestIndex() error {
	return cqlerr.Invalidf("ANN ordering by vector requires the column to be indexed")
}

// hasIndex reports whether a column has an index of any kind.
func (rs *Restrictions) hasIndex(c *schema.Column) bool { return len(rs.table.IndexesOn(c.Name)) > 0 }

func isVector(c *schema.Column) bool {
	_, ok := c.Type.(*types.Vector)
	return ok
}
