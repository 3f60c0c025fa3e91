package where

import "github.com/cqld/cqld/cql/cqlerr"

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

// tokenRange is what token() is restricted to: = is a range of one token.
func tokenRange(r *Restriction) *Range {
	if r.Slice != nil {
		return r.Slice
	}
	b := &Bound{Columns: r.Columns, Point: r.Choice.Points[0], Inclusive: true}
	return &Range{Columns: r.Columns, Lower: b, Upper: b}
}
