package where

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
)

// Restrictions are the restrictions of a WHERE clause, by the part of the table they are about.
type Restrictions struct {
	terms *expr.Checker
	table *schema.Table
	verb  string // SELECT, UPDATE, DELETE, INSERT: messages name it

	AllowFiltering bool
	NeverFilters   bool // the client may not use ALLOW FILTERING
	OnlyStatic     bool // only static columns are read or written

	partition, clustering, other restrictionSet
	token                        *Restriction

	indexable bool             // an index serves one of the restrictions
	indexed   bool             // an index is used
	keyRange  bool             // partitions are not named one by one
	filtered  []restrictionSet // for indexes, or to compare rows with

	unfilterable error // names a restriction that rows cannot be compared with
}

// New begins the WHERE clause of a statement on a table, whose verb is SELECT, INSERT, UPDATE or DELETE.
func New(terms *expr.Checker, t *schema.Table, verb string) *Restrictions {
	return &Restrictions{terms: terms, table: t, verb: verb}
}

// restrictionSet has the restrictions of columns of one kind, in the columns' order. Columns of the
// regular and static kinds are in the order of their names.
type restrictionSet []*Restriction

// AddRelations adds the relations of a WHERE clause.
func (rs *Restrictions) AddRelations(relations []cql.Relation) error {
	for i := range relations {
		rel := &relations[i]
		if (rel.Op == cql.Contains || rel.Op == cql.ContainsKey) && rs.verb != "SELECT" {
			return cqlerr.Invalidf("Cannot use %s with %s", rs.verb, rel.Op)
		}
		r, err := rs.Relation(rel)
		if err != nil {
			return err
		}
		if err := rs.Add(r); err != nil {
			return err
		}
	}
	return nil
}

// AddValue gives a primary key column its value, as INSERT does.
func (rs *Restrictions) AddValue(c *schema.Column, value expr.Expr) error {
	cols := []*schema.Column{c}
	choice := &Choice{Columns: cols, Points: []Point{{Parts: []expr.Expr{value}}}}
	return rs.Add(&Restriction{Columns: cols, Choice: choice})
}

// Add adds a restriction, merged with the restrictions of the same columns.
func (rs *Restrictions) Add(r *Restriction) (err error) {
	switch {
	case r.token:
		if rs.token != nil {
			r, err = mergeTokens(rs.token, r)
		}
		rs.token = r
	case r.Columns[0].Kind == schema.PartitionKey:
		err = rs.partition.add(r)
	case r.Columns[0].Kind == schema.Clustering:
		served := rs.verb == "SELECT" && r.served(rs.table.Indexes)
		if err = rs.clustering.add(r); err == nil && !rs.AllowFiltering && !served {
			err = rs.clustering.checkNothingAfterSlice(r)
		}
	default:
		err = rs.other.add(r)
	}
	return err
}

// add merges r into the restrictions that have columns in common with it, or adds it to the set.
func (set *restrictionSet) add(r *Restriction) error {
	for i, old := range *set {
		if len(common(old.Columns, r.Columns)) == 0 {
			continue
		}
		merged, err := merge(old, r)
		if err != nil {
			return err
		}
		(*set)[i] = merged
		return nil
	}
	*set = append(*set, r)
	slices.SortStableFunc(*set, func(a, b *Restriction) int {
		x, y := a.Columns[0], b.Columns[0]
		if x.Kind.IsKey() {
			return x.Position - y.Position
		}
		return strings.Compare(x.Name, y.Name)
	})
	return nil
}

// merge is both restrictions in one, if they can hold at once. The first one decides the error when
// they cannot.
func merge(a, b *Restriction) (*Restriction, error) {
	both := common(a.Columns, b.Columns)
	switch {
	case a.Choice != nil && a.Choice.In:
		return nil, onlyRelation(names(both, " ,"), "a IN")
	case a.Choice != nil:
		return nil, onlyRelation(names(both, " ,"), "an Equal")
	case a.Contains != nil:
		if b.Contains == nil {
			return nil, cqlerr.Invalidf("Collection column %s can only be restricted by CONTAINS, CONTAINS KEY, or "+
				"map-entry equality", a.Columns[0].Name)
		}
		return &Restriction{Columns: a.Columns, Contains: append(slices.Clip(a.Contains), b.Contains...)}, nil
	case a.like != nil:
		return nil, onlyRelation(names(both, " ,"), "a LIKE")
	case b.Slice == nil:
		return nil, cqlerr.Invalidf(`Column "%s" cannot be restricted by both an equality and an inequality relation`,
			names(both, " ,"))
	}
	return mergeSlices(a, b, both)
}

// mergeSlices is the range between the bounds of two restrictions.
func mergeSlices(a, b *Restriction, both []*schema.Column) (*Restriction, error) {
	if a.Columns[0] != b.Columns[0] {
		later := a.Columns[0]
		if b.Columns[0].Position > later.Position {
			later = b.Columns[0]
		}
		return nil, cqlerr.Invalidf(`Column "%s" cannot be restricted by two inequalities not starting with the same column`,
			later.Name)
	}
	if err := checkOneBound(a.Slice, b.Slice, names(both, " ,")); err != nil {
		return nil, err
	}
	cols := a.Columns
	if len(b.Columns) > len(cols) {
		cols = b.Columns
	}
	r := &Range{Columns: cols, Lower: a.Slice.Lower, Upper: a.Slice.Upper}
	if r.Lower == nil {
		r.Lower = b.Slice.Lower
	}
	if r.Upper == nil {
		r.Upper = b.Slice.Upper
	}
	return &Restriction{Columns: cols, Slice: r, tuple: a.tuple || b.tuple}, nil
}

// mergeTokens is merge for two relations on token(), whose messages differ.
func mergeTokens(a, b *Restriction) (*Restriction, error) {
	cols := names(a.Columns, ", ")
	switch {
	case a.Choice != nil:
		return nil, onlyRelation(cols, "an Equal")
	case b.Choice != nil:
		return nil, cqlerr.Invalidf(`Columns "%s" cannot be restricted by both an equality and an inequality relation`, cols)
	}
	if err := checkOneBound(a.Slice, b.Slice, cols); err != nil {
		return nil, err
	}
	merged, err := mergeSlices(a, b, a.Columns)
	if err != nil {
		return nil, err
	}
	merged.token = true
	return merged, nil
}

// onlyRelation refuses a second relation on columns whose first one allows no other.
func onlyRelation(columns, first string) error {
	return cqlerr.Invalidf("%s cannot be restricted by more than one relation if it includes %s", columns, first)
}

// checkOneBound refuses two ranges of the same columns that are bound at the same end.
func checkOneBound(a, b *Range, columns string) error {
	var end string
	switch {
	case a.Lower != nil && b.Lower != nil:
		end = "start"
	case a.Upper != nil && b.Upper != nil:
		end = "end"
	default:
		return nil
	}
	return cqlerr.Invalidf("More than one restriction was found for the %s bound on %s", end, columns)
}

// common are the columns in both lists.
func common(a, b []*schema.Column) []*schema.Column {
	var both []*schema.Column
	for _, c := range a {
		if slices.Contains(b, c) {
			both = append(both, c)
		}
	}
	return both
}

// Restricts reports whether a column of a kind is restricted.
func (rs *Restrictions) Restricts(kind schema.ColumnKind) bool {
	switch kind {
	case schema.PartitionKey:
		return len(rs.partition) > 0
	case schema.Clustering:
		return len(rs.clustering) > 0
	}
	return slices.ContainsFunc(rs.other, func(r *Restriction) bool { return r.Columns[0].Kind == kind })
}

// RestrictsToken reports whether the token of the partition key is restricted.
func (rs *Restrictions) RestrictsToken() bool { return rs.token != nil }

// RestrictsColumn reports whether a column is restricted, alone or with others, or by its token.
func (rs *Restrictions) RestrictsColumn(c *schema.Column) bool {
	for _, set := range []restrictionSet{rs.partition, rs.clustering, rs.other} {
		if slices.ContainsFunc(set, func(r *Restriction) bool { return slices.Contains(r.Columns, c) }) {
			return true
		}
	}
	return rs.token != nil && c.Kind == schema.PartitionKey
}

// PartitionIn reports whether a partition key column may have one of several values.
func (rs *Restrictions) PartitionIn() bool { return rs.partition.hasIn() }

// ByEqual reports whether a column of the primary key is restricted to one value.
func (rs *Restrictions) ByEqual(c *schema.Column) bool {
	return rs.clustering.byEqual(c) || rs.partition.byEqual(c)
}

// Others are the first columns of the restrictions outside of the primary key.
func (rs *Restrictions) Others() []*schema.Column {
	var cols []*schema.Column
	for _, r := range rs.other {
		cols = append(cols, r.Columns[0])
	}
	return cols
}

// hasSlice reports whether any restriction of the set is a range.
func (set restrictionSet) hasSlice() bool {
	return slices.ContainsFunc(set, func(r *Restriction) bool { return r.Slice != nil })
}

// hasIn reports whether any restriction of the set may allow several values.
func (set restrictionSet) hasIn() bool {
	return slices.ContainsFunc(set, func(r *Restriction) bool {
		return r.Choice != nil && !allSingle([]*Choice{r.Choice})
	})
}

// hasContains reports whether any restriction of the set is CONTAINS or the like.
func (set restrictionSet) hasContains() bool {
	return slices.ContainsFunc(set, func(r *Restriction) bool { return r.Contains != nil })
}

// unrestricted are the columns of cols that no restriction of the set is about.
func (set restrictionSet) unrestricted(cols []*schema.Column) []*schema.Column {
	return slices.DeleteFunc(slices.Clone(cols), func(c *schema.Column) bool {
		return slices.ContainsFunc(set, func(r *Restriction) bool { return slices.Contains(r.Columns, c) })
	})
}

// byEqual reports whether a column is restricted to one value.
func (set restrictionSet) byEqual(c *schema.Column) bool {
	return slices.ContainsFunc(set, func(r *Restriction) bool {
		return r.Choice != nil && !r.Choice.In && slices.Contains(r.Columns, c)
	})
}
