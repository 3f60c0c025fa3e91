package where

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// mightFilter is how refusals of filtering begin.
const mightFilter = "Cannot execute this query as it might involve data filtering and thus may have unpredictable " +
	"performance. "

// errNeedsFiltering refuses a query that would compare rows one by one without being told to.
func errNeedsFiltering() error {
	return cqlerr.Invalidf(mightFilter + "If you want to execute this query despite the performance " +
		"unpredictability, use ALLOW FILTERING")
}

// needsFiltering is errNeedsFiltering in the words for a client that may not use ALLOW FILTERING.
func (rs *Restrictions) needsFiltering() error {
	if !rs.NeverFilters {
		return errNeedsFiltering()
	}
	return cqlerr.Invalidf(mightFilter + "Executing this query despite the performance unpredictability with ALLOW " +
		"FILTERING has been disabled by the allow_filtering_enabled property in cassandra.yaml")
}

// filtersImplicitly reports whether the table may be filtered without ALLOW FILTERING: those made by code.
func (rs *Restrictions) filtersImplicitly() bool { return rs.table.Virtual }

// resolveOther leaves the restrictions of static and regular columns to indexes or filtering.
func (rs *Restrictions) resolveOther(w *Clause) error {
	if len(rs.other) == 0 {
		return nil
	}
	if rs.verb != "SELECT" {
		found := make([]string, 0, len(rs.other))
		for _, r := range rs.other {
			found = append(found, names(r.Columns, ", "))
		}
		return cqlerr.Invalidf("Non PRIMARY KEY columns found in where clause: %s ", strings.Join(found, ", "))
	}
	if err := rs.checkVectors(); err != nil {
		return err
	}
	if rs.indexable {
		rs.indexed = true
	} else if !rs.AllowFiltering && !rs.filtersImplicitly() {
		return rs.needsFiltering()
	}
	rs.filter(w, rs.other)
	rs.filtered = append(rs.filtered, rs.other)
	return nil
}

// Indexed reports whether an index would find the rows.
func (rs *Restrictions) Indexed() bool { return rs.indexed }

// Unfilterable is the refusal of a restriction that rows cannot be compared with, or nil. Cassandra complains of it
// last.
func (rs *Restrictions) Unfilterable() error { return rs.unfilterable }

// checkIndexed refuses restrictions that an index cannot help with. Beside tokens a key that is not given as a whole
// is compared row by row.
func (rs *Restrictions) checkIndexed() error {
	compared := rs.token != nil && rs.keyRange
	if rs.indexed && rs.partition.hasIn() && !compared {
		return cqlerr.Invalidf("Select on indexed columns and with IN clause for the PRIMARY KEY are not supported")
	}
	return nil
}

// CheckNeedsFiltering refuses reads of many partitions, and those with indexes, that leave something to be compared row
// by row.
func (rs *Restrictions) CheckNeedsFiltering() error {
	if rs.AllowFiltering || rs.filtersImplicitly() || !rs.keyRange && !rs.indexed || !rs.NeedsFiltering() {
		return nil
	}
	return errNeedsFiltering()
}

// NeedsFiltering reports whether rows have to be compared one by one: with restrictions that no one group of indexes
// serves, or with clustering keys in each partition.
func (rs *Restrictions) NeedsFiltering() bool {
	n := 0
	for _, set := range rs.filtered {
		n += len(set)
	}
	serving := func(group []*schema.Index) bool {
		return !slices.ContainsFunc(rs.filtered, func(set restrictionSet) bool {
			return slices.ContainsFunc(set, func(r *Restriction) bool { return r.needsFiltering(group) })
		})
	}
	return n > 0 && !slices.ContainsFunc(indexGroups(rs.table), serving) || n == 0 && len(rs.clustering) > 0
}

// filter adds restrictions as conditions on rows.
func (rs *Restrictions) filter(w *Clause, set restrictionSet) {
	for _, r := range set {
		switch {
		case r.like != nil:
			w.Filters = append(w.Filters, &Filter{Like: r.like})
		case r.Choice != nil:
			for _, c := range r.Choice.ofColumns() {
				w.Filters = append(w.Filters, &Filter{Choice: c})
			}
		case r.Slice != nil:
			w.Filters = append(w.Filters, &Filter{Range: r.Slice})
		}
		for _, c := range r.Contains {
			w.Filters = append(w.Filters, &Filter{Contains: c})
		}
	}
}

// ofColumns splits (a, b) = (1, 2) into a = 1 and b = 2, because indexes are of one column. Other choices stay whole.
func (c *Choice) ofColumns() []*Choice {
	if c.In || c.List != nil || len(c.Points) != 1 || c.Points[0].Tuple != nil {
		return []*Choice{c}
	}
	each := make([]*Choice, len(c.Columns))
	for i, column := range c.Columns {
		each[i] = &Choice{Columns: []*schema.Column{column}, Points: []Point{{Parts: c.Points[0].Parts[i : i+1]}}}
	}
	return each
}
