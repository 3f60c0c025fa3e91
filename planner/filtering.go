package planner

import (
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// needsFiltering is the refusal of a query that would compare rows one by one without being told to.
func needsFiltering() error {
	return cqlerr.Invalidf("Cannot execute this query as it might involve data filtering and thus may have " +
		"unpredictable performance. If you want to execute this query despite the performance unpredictability, use " +
		"ALLOW FILTERING")
}

// filtersImplicitly reports whether the table may be filtered without ALLOW FILTERING: those made by code.
func (rs *restrictions) filtersImplicitly() bool { return rs.table.Virtual }

// resolveOther leaves the restrictions of static and regular columns to filtering.
func (rs *restrictions) resolveOther(w *Where) error {
	if len(rs.other) == 0 {
		return nil
	}
	if rs.verb != "SELECT" {
		found := make([]string, 0, len(rs.other))
		for _, r := range rs.other {
			found = append(found, names(r.columns, ", "))
		}
		return cqlerr.Invalidf("Non PRIMARY KEY columns found in where clause: %s ", strings.Join(found, ", "))
	}
	if !rs.allowFiltering && !rs.filtersImplicitly() {
		return needsFiltering()
	}
	w.Filters = append(w.Filters, filters(rs.other)...)
	return nil
}

// checkNeedsFiltering refuses a scan over all partitions that picks clustering keys in each.
func (rs *restrictions) checkNeedsFiltering(w *Where) error {
	if w.Partition == nil && len(rs.clustering) > 0 && !rs.allowFiltering && !rs.filtersImplicitly() {
		return needsFiltering()
	}
	return nil
}

// filters are restrictions as conditions on rows.
func filters(set restrictionSet) []*Filter {
	var fs []*Filter
	for _, r := range set {
		switch {
		case r.choice != nil:
			fs = append(fs, &Filter{Choice: r.choice})
		case r.slice != nil:
			fs = append(fs, &Filter{Range: r.slice})
		}
		for _, c := range r.contains {
			fs = append(fs, &Filter{Contains: c})
		}
	}
	return fs
}
