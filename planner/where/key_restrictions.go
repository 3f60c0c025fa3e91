package where

import (
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// checkNothingAfterSlice refuses, without filtering, a clustering column after one that is restricted
// to a range: the rows selected would not be contiguous.
func (set restrictionSet) checkNothingAfterSlice(added *Restriction) error {
	last := set[len(set)-1]
	at, from := added.Columns[0], last.Columns[0]
	if added == last || len(common(added.Columns, last.Columns)) > 0 {
		if len(set) < 2 {
			return nil
		}
		before := set[len(set)-2]
		if before.Slice != nil {
			return behindSlice(at.Name, before.Columns[0].Name)
		}
		return nil
	}
	if last.Slice != nil && at.Position > from.Position {
		return behindSlice(at.Name, from.Name)
	}
	if added.Slice != nil && at.Position < from.Position {
		for _, r := range set {
			if next := r.Columns[0]; next.Position > at.Position {
				return cqlerr.Invalidf(`PRIMARY KEY column "%s" cannot be restricted (preceding column "%s" is restricted `+
					`by a non-EQ relation)`, next.Name, at.Name)
			}
		}
	}
	return nil
}

func behindSlice(column, slice string) error {
	return cqlerr.Invalidf(`Clustering column "%s" cannot be restricted (preceding column "%s" is restricted by a `+
		`non-EQ relation)`, column, slice)
}

// resolveClustering splits the restrictions of clustering columns into a prefix of values with a range
// after it, and the rest for filtering.
func (rs *Restrictions) resolveClustering(w *Clause) error {
	if rs.verb == "UPDATE" || rs.verb == "INSERT" {
		if rs.clustering.hasSlice() {
			return cqlerr.Invalidf("Slice restrictions are not supported on the clustering columns in %s statements", rs.verb)
		}
		missing := rs.clustering.unrestricted(rs.table.Clustering)
		if rs.table.Compact == schema.CompactDense && len(rs.clustering) > 0 {
			if err := rs.checkNoGap(); err != nil {
				return err
			}
			if len(missing) > 0 && rs.table.Counter {
				return cqlerr.Invalidf("Counters cannot be written without clustering columns %s", names(missing, ", "))
			}
			missing = nil // they are null
		}
		if !rs.OnlyStatic && len(missing) > 0 {
			return cqlerr.Invalidf("Some clustering keys are missing: %s", names(missing, ", "))
		}
	} else if rs.clustering.hasContains() && !rs.AllowFiltering && !rs.indexable {
		return cqlerr.Invalidf("Clustering columns can only be restricted with CONTAINS with a secondary index or filtering")
	}
	rest, err := rs.clusteringPrefix(w)
	if err != nil {
		return err
	}
	if rs.keyRange && rs.verb == "SELECT" && rs.clustering.served(rs.table.Indexes) {
		rs.indexed = true
	}
	if rs.indexed {
		rest = rs.servedClustering()
	}
	if !rs.indexed && len(rest) == 0 {
		return nil
	}
	rs.filtered = append(rs.filtered, rs.clustering)
	return rs.filterClustering(w, rest)
}

// clusteringPrefix finds values of the first clustering columns, and a range after them. The rest needs an index
// or filtering.
func (rs *Restrictions) clusteringPrefix(w *Clause) (rest restrictionSet, err error) {
	position := 0
	for i, r := range rs.clustering {
		if r.isFilter(position) || w.Slice != nil {
			if rs.indexable {
				rs.indexed = true
			} else if !rs.AllowFiltering {
				if err := rs.checkNoGap(); err != nil {
					return nil, err
				}
			}
			return rs.clustering[i:], nil
		}
		if r.Slice != nil {
			w.Slice = r.Slice
			continue
		}
		w.Clustering = append(w.Clustering, r.Choice)
		position = r.Columns[len(r.Columns)-1].Position + 1
	}
	return nil, nil
}

// clusteringFilters reports whether some restrictions of clustering columns need an index or filtering.
func (rs *Restrictions) clusteringFilters() bool {
	position := 0
	for _, r := range rs.clustering {
		if r.isFilter(position) {
			return true
		}
		if r.Slice == nil {
			position = r.Columns[len(r.Columns)-1].Position + 1
		}
	}
	return false
}

// isFilter reports whether a restriction does not continue the restrictions of the first columns, up to position.
func (r *Restriction) isFilter(position int) bool {
	return r.Contains != nil || r.like != nil || r.Columns[0].Position != position
}

// servedClustering are the restrictions for indexes and filters: Cassandra counts restrictions that indexes serve as
// gaps, too.
func (rs *Restrictions) servedClustering() restrictionSet {
	var set restrictionSet
	position := 0
	for _, r := range rs.clustering {
		if r.isFilter(position) || r.served(rs.table.Indexes) {
			set = append(set, r)
		} else if r.Slice == nil {
			position = r.Columns[len(r.Columns)-1].Position + 1
		}
	}
	return set
}

// checkNoGap refuses a restricted clustering column that follows an unrestricted one: the rows selected
// would not be contiguous.
func (rs *Restrictions) checkNoGap() error {
	i := 0
	for _, r := range rs.clustering {
		for _, c := range r.Columns {
			if want := rs.table.Clustering[i]; c != want {
				return cqlerr.Invalidf(`PRIMARY KEY column "%s" cannot be restricted as preceding column "%s" is not restricted`,
					c.Name, want.Name)
			}
			i++
		}
	}
	return nil
}

// oneColumn reports whether an IN written with parentheses is about one column and not about tuples that are markers:
// then it is nothing else than without them.
func (r *Restriction) oneColumn() bool {
	return len(r.Columns) == 1 &&
		!slices.ContainsFunc(r.Choice.Points, func(p Point) bool { return p.Tuple != nil })
}

// filterClustering leaves restrictions of clustering columns to filtering.
func (rs *Restrictions) filterClustering(w *Clause, set restrictionSet) error {
	for _, r := range set {
		if r.Slice != nil && r.tuple {
			rs.unfilterable = cqlerr.Invalidf("Multi-column slice restrictions cannot be used for filtering.")
			break
		}
		if r.Choice != nil && r.tuple && r.Choice.In && !r.oneColumn() {
			rs.unfilterable = cqlerr.Invalidf("Multicolumn IN filters are not supported")
			break
		}
	}
	if rs.verb != "SELECT" {
		if rs.unfilterable != nil {
			return rs.unfilterable
		}
		return rs.checkNoGap()
	}
	rs.filter(w, set)
	return nil
}

// Resolve turns the restrictions into a Clause, in the order in which Cassandra checks them.
func (rs *Restrictions) Resolve() (*Clause, error) {
	w := &Clause{}
	rs.indexable = rs.verb == "SELECT" &&
		(rs.partition.served(rs.table.Indexes) || rs.clustering.served(rs.table.Indexes) || rs.other.served(rs.table.Indexes))
	if err := rs.resolvePartition(w); err != nil {
		return nil, err
	}
	if rs.OnlyStatic && len(rs.clustering) > 0 {
		if rs.verb == "SELECT" {
			return nil, cqlerr.Invalidf("Cannot restrict clustering columns when selecting only static columns")
		}
		if rs.verb != "INSERT" {
			return nil, cqlerr.Invalidf("Invalid restrictions on clustering columns since the %s statement modifies only "+
				"static columns", rs.verb)
		}
	}
	if err := rs.resolveClustering(w); err != nil {
		return nil, err
	}
	if err := rs.resolveOther(w); err != nil {
		return nil, err
	}
	if err := rs.checkIndexed(); err != nil {
		return nil, err
	}
	return w, rs.useIndexes(w)
}

// resolvePartition finds the partition keys, or the range of tokens to scan.
func (rs *Restrictions) resolvePartition(w *Clause) error {
	if rs.verb != "SELECT" {
		if err := rs.checkWritablePartition(); err != nil {
			return err
		}
	}
	if rs.token != nil {
		w.Token = tokenRange(rs.token)
	}
	if len(rs.partition) == 0 {
		rs.keyRange = true
		rs.indexed = rs.token == nil && rs.indexable
		return nil
	}
	missing := rs.partition.unrestricted(rs.table.PartitionKey)
	if len(missing) > 0 || rs.partition.hasSlice() || rs.partition.hasContains() {
		if !rs.AllowFiltering && !rs.indexable && !rs.filtersImplicitly() {
			return rs.needsFiltering()
		}
		rs.keyRange, rs.indexed = true, rs.indexable
		rs.filter(w, rs.partition)
		rs.filtered = append(rs.filtered, rs.partition)
		return nil
	}
	for _, r := range rs.partition {
		w.Partition = append(w.Partition, r.Choice)
	}
	return nil
}

// checkWritablePartition refuses writes that do not name their partitions. Those named may be narrowed by token().
func (rs *Restrictions) checkWritablePartition() error {
	missing := rs.partition.unrestricted(rs.table.PartitionKey)
	if rs.token != nil && (len(missing) > 0 || rs.partition.hasSlice()) {
		return cqlerr.Invalidf("The token function cannot be used in WHERE clauses for %s statements", rs.verb)
	}
	if len(missing) > 0 {
		return cqlerr.Invalidf("Some partition key parts are missing: %s", names(missing, ", "))
	}
	if rs.partition.hasSlice() {
		return cqlerr.Invalidf("Only EQ and IN relation are supported on the partition key (unless you use the token() "+
			"function) for %s statements", rs.verb)
	}
	return nil
}

// tokenRange is the restriction of token(): = is a range of one token.
func tokenRange(r *Restriction) *Range {
	if r.Slice != nil {
		return r.Slice
	}
	b := &Bound{Columns: r.Columns, Point: r.Choice.Points[0], Inclusive: true}
	return &Range{Columns: r.Columns, Lower: b, Upper: b}
}
