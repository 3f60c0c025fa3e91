package planner

import "github.com/cqld/cqld/cql/cqlerr"

// resolve turns the restrictions into a Where, in the order in which Cassandra checks them.
func (rs *restrictions) resolve() (*Where, error) {
	w := &Where{}
	rs.indexable = rs.verb == "SELECT" && (rs.partition.served(rs.table.Indexes) || rs.clustering.served(rs.table.Indexes) ||
		rs.other.served(rs.table.Indexes))
	if err := rs.resolvePartition(w); err != nil {
		return nil, err
	}
	if rs.onlyStatic && len(rs.clustering) > 0 {
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
func (rs *restrictions) resolvePartition(w *Where) error {
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
		if !rs.allowFiltering && !rs.indexable && !rs.filtersImplicitly() {
			return needsFiltering()
		}
		rs.keyRange, rs.indexed = true, rs.indexable
		rs.filter(w, rs.partition)
		rs.filtered = append(rs.filtered, rs.partition)
		return nil
	}
	for _, r := range rs.partition {
		w.Partition = append(w.Partition, r.choice)
	}
	return nil
}

// checkWritablePartition refuses writes that do not name their partitions. Those named may be narrowed by token().
func (rs *restrictions) checkWritablePartition() error {
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
func tokenRange(r *restriction) *Range {
	if r.slice != nil {
		return r.slice
	}
	b := &Bound{Columns: r.columns, Point: r.choice.Points[0], Inclusive: true}
	return &Range{Columns: r.columns, Lower: b, Upper: b}
}
