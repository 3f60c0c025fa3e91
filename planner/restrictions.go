package planner

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// restrictions are those of a whole WHERE clause, by the part of the table they are about.
type restrictions struct {
	table *schema.Table
	verb  string // SELECT, UPDATE, DELETE, INSERT: messages name it

	partition, clustering, other restrictionSet
	token                        *restriction

	allowFiltering bool
	onlyStatic     bool // only static columns are read or written

	indexable bool             // an index serves one of the restrictions
	indexed   bool             // an index is used
	keyRange  bool             // partitions are not named one by one
	filtered  []restrictionSet // those that indexes are to serve, or rows are compared with

	unfilterable error // says which restriction rows cannot be compared with; the last thing to complain of
}

// restrictionSet has the restrictions of columns of one kind, in the columns' order. Columns of the
// regular and static kinds are in the order of their names.
type restrictionSet []*restriction

// restrict adds the relations of a WHERE clause.
func (p *planning) restrict(rs *restrictions, where []cql.Relation) error {
	for i := range where {
		rel := &where[i]
		if (rel.Op == cql.Contains || rel.Op == cql.ContainsKey) && rs.verb != "SELECT" {
			return cqlerr.Invalidf("Cannot use %s with %s", rs.verb, rel.Op)
		}
		r, err := p.restriction(rs.table, rel)
		if err != nil {
			return err
		}
		if err := rs.add(r); err != nil {
			return err
		}
	}
	return nil
}

// add puts a restriction where it belongs, merged with those of the same columns.
func (rs *restrictions) add(r *restriction) (err error) {
	switch {
	case r.token:
		if rs.token != nil {
			r, err = mergeTokens(rs.token, r)
		}
		rs.token = r
	case r.columns[0].Kind == schema.PartitionKey:
		err = rs.partition.add(r)
	case r.columns[0].Kind == schema.Clustering:
		if err = rs.clustering.add(r); err == nil && !rs.allowFiltering && !(rs.verb == "SELECT" && r.served(rs.table.Indexes)) {
			err = rs.clustering.checkNothingBehindSlice(r)
		}
	default:
		err = rs.other.add(r)
	}
	return err
}

// add merges r into the restrictions that have columns in common with it, or adds it to the set.
func (set *restrictionSet) add(r *restriction) error {
	for i, old := range *set {
		if len(common(old.columns, r.columns)) == 0 {
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
	slices.SortStableFunc(*set, func(a, b *restriction) int {
		x, y := a.columns[0], b.columns[0]
		if x.Kind.IsKey() {
			return x.Position - y.Position
		}
		return strings.Compare(x.Name, y.Name)
	})
	return nil
}

// merge is both restrictions in one, if they can hold together. The first one decides what is said when
// they cannot.
func merge(a, b *restriction) (*restriction, error) {
	both := common(a.columns, b.columns)
	switch {
	case a.choice != nil && a.choice.In:
		return nil, cqlerr.Invalidf("%s cannot be restricted by more than one relation if it includes a IN",
			names(both, " ,"))
	case a.choice != nil:
		return nil, cqlerr.Invalidf("%s cannot be restricted by more than one relation if it includes an Equal",
			names(both, " ,"))
	case a.contains != nil:
		if b.contains == nil {
			return nil, cqlerr.Invalidf("Collection column %s can only be restricted by CONTAINS, CONTAINS KEY, or "+
				"map-entry equality", a.columns[0].Name)
		}
		return &restriction{columns: a.columns, contains: append(slices.Clip(a.contains), b.contains...)}, nil
	case a.like != nil:
		return nil, cqlerr.Invalidf("%s cannot be restricted by more than one relation if it includes a LIKE",
			names(both, " ,"))
	case b.slice == nil:
		return nil, cqlerr.Invalidf(`Column "%s" cannot be restricted by both an equality and an inequality relation`,
			names(both, " ,"))
	}
	return mergeSlices(a, b, both)
}

// mergeSlices is the range between the bounds of two restrictions.
func mergeSlices(a, b *restriction, both []*schema.Column) (*restriction, error) {
	if a.columns[0] != b.columns[0] {
		later := a.columns[0]
		if b.columns[0].Position > later.Position {
			later = b.columns[0]
		}
		return nil, cqlerr.Invalidf(`Column "%s" cannot be restricted by two inequalities not starting with the same column`,
			later.Name)
	}
	if a.slice.Lower != nil && b.slice.Lower != nil {
		return nil, cqlerr.Invalidf("More than one restriction was found for the start bound on %s", names(both, " ,"))
	}
	if a.slice.Upper != nil && b.slice.Upper != nil {
		return nil, cqlerr.Invalidf("More than one restriction was found for the end bound on %s", names(both, " ,"))
	}
	cols := a.columns
	if len(b.columns) > len(cols) {
		cols = b.columns
	}
	r := &Range{Columns: cols, Lower: a.slice.Lower, Upper: a.slice.Upper}
	if r.Lower == nil {
		r.Lower = b.slice.Lower
	}
	if r.Upper == nil {
		r.Upper = b.slice.Upper
	}
	return &restriction{columns: cols, slice: r, tuple: a.tuple || b.tuple}, nil
}

// mergeTokens is merge for two relations on token(), whose messages differ.
func mergeTokens(a, b *restriction) (*restriction, error) {
	cols := names(a.columns, ", ")
	switch {
	case a.choice != nil:
		return nil, cqlerr.Invalidf("%s cannot be restricted by more than one relation if it includes an Equal", cols)
	case b.choice != nil:
		return nil, cqlerr.Invalidf(`Columns "%s" cannot be restricted by both an equality and an inequality relation`, cols)
	case a.slice.Lower != nil && b.slice.Lower != nil:
		return nil, cqlerr.Invalidf("More than one restriction was found for the start bound on %s", cols)
	case a.slice.Upper != nil && b.slice.Upper != nil:
		return nil, cqlerr.Invalidf("More than one restriction was found for the end bound on %s", cols)
	}
	merged, err := mergeSlices(a, b, a.columns)
	if err != nil {
		return nil, err
	}
	merged.token = true
	return merged, nil
}

// common are the columns that stand in both lists.
func common(a, b []*schema.Column) []*schema.Column {
	var both []*schema.Column
	for _, c := range a {
		if slices.Contains(b, c) {
			both = append(both, c)
		}
	}
	return both
}

// hasSlice reports whether any restriction of the set is a range.
func (set restrictionSet) hasSlice() bool {
	return slices.ContainsFunc(set, func(r *restriction) bool { return r.slice != nil })
}

// hasIn reports whether any restriction of the set may allow several values.
func (set restrictionSet) hasIn() bool {
	return slices.ContainsFunc(set, func(r *restriction) bool { return r.choice != nil && !allSingle([]*Choice{r.choice}) })
}

// hasContains reports whether any restriction of the set is CONTAINS or the like.
func (set restrictionSet) hasContains() bool {
	return slices.ContainsFunc(set, func(r *restriction) bool { return r.contains != nil })
}

// unrestricted are the columns of cols that no restriction of the set is about.
func (set restrictionSet) unrestricted(cols []*schema.Column) []*schema.Column {
	return slices.DeleteFunc(slices.Clone(cols), func(c *schema.Column) bool {
		return slices.ContainsFunc(set, func(r *restriction) bool { return slices.Contains(r.columns, c) })
	})
}

// byEqual reports whether a column is restricted to one value.
func (set restrictionSet) byEqual(c *schema.Column) bool {
	return slices.ContainsFunc(set, func(r *restriction) bool {
		return r.choice != nil && !r.choice.In && slices.Contains(r.columns, c)
	})
}
