package guardrail

import (
	"fmt"

	"github.com/cqld/cqld/cql/cqlerr"
)

// allowFiltering is the guardrail on ALLOW FILTERING.
var allowFiltering = guard{
	"allow_filtering", "ALLOW FILTERING can potentially visit all the data in the table and have unpredictable performance.",
}

// AllowFiltering guards ALLOW FILTERING.
func (c *Check) AllowFiltering() error {
	return c.allow(allowFiltering, c.Settings.AllowFilteringEnabled, "Querying with ALLOW FILTERING")
}

// MayFilter reports whether the client may use ALLOW FILTERING.
func (c *Check) MayFilter() bool { return c == nil || c.Settings.AllowFilteringEnabled }

// GroupBy guards GROUP BY.
func (c *Check) GroupBy() error {
	if c == nil {
		return nil
	}
	return c.allow(guard{name: "group_by"}, c.Settings.GroupByEnabled, "GROUP BY functionality")
}

// ReadLevel guards the consistency level of a read.
func (c *Check) ReadLevel(level cqlerr.Consistency) error {
	if !c.Settings.ReadLevels.isOn() {
		return nil
	}
	return c.levels("read_consistency_levels", "read consistency levels", c.Settings.ReadLevels,
		[]cqlerr.Consistency{level})
}

// levels guards consistency levels.
func (c *Check) levels(name, what string, settings Values[cqlerr.Consistency], levels []cqlerr.Consistency) error {
	g := guard{name: name}
	if found := among(levels, settings.Disallowed); len(found) > 0 {
		return c.refuse(g, fmt.Sprintf("Provided values %s are not allowed for %s (disallowed values are: %s)",
			listText(found), what, listText(settings.Disallowed)))
	}
	if found := among(levels, settings.Warned); len(found) > 0 {
		c.warn(g, fmt.Sprintf("Provided values %s are not recommended for %s (warned values are: %s)", listText(found), what,
			listText(settings.Warned)))
	}
	return nil
}

// PageSize guards the number of rows of a page.
func (c *Check) PageSize(table string, rows int) error {
	return c.above(guard{name: "page_size"}, c.Settings.PageSize, int64(rows), func(limit int64, warning bool) string {
		if warning {
			return fmt.Sprintf("Query for table %s with page size %d exceeds warning threshold of %d.", table, rows, limit)
		}
		return fmt.Sprintf("Aborting query for table %s, page size %d exceeds fail threshold of %d.", table, rows, limit)
	})
}

// PartitionKeys guards the number of partitions that a SELECT names by IN.
func (c *Check) PartitionKeys(table string, keys int) error {
	g := guard{name: "partition_keys_in_select"}
	return c.above(g, c.Settings.PartitionKeysInSelect, int64(keys), func(limit int64, warning bool) string {
		if warning {
			return fmt.Sprintf("Query with partition keys in IN clause on table %s, with number of partition keys %d exceeds "+
				"warning threshold of %d.", table, keys, limit)
		}
		return fmt.Sprintf("Aborting query with partition keys in IN clause on table %s, number of partition keys %d exceeds "+
			"fail threshold of %d.", table, keys, limit)
	})
}

// CountsProducts reports whether the size of products of IN matters.
func (c *Check) CountsProducts() bool { return c != nil && c.Settings.InSelectCartesianProduct.isOn() }

// Product guards the number of combinations of IN lists on a kind of columns: partition key or clustering key.
func (c *Check) Product(columns string, combinations int) error {
	g := guard{name: "in_select_cartesian_product"}
	return c.above(g, c.Settings.InSelectCartesianProduct, int64(combinations), func(limit int64, warning bool) string {
		if warning {
			return fmt.Sprintf("The cartesian product of the IN restrictions on %s produces %d values, this exceeds warning "+
				"threshold of %d.", columns, combinations, limit)
		}
		return fmt.Sprintf("Aborting query because the cartesian product of the IN restrictions on %s produces %d values, this "+
			"exceeds fail threshold of %d.", columns, combinations, limit)
	})
}

// indexAlone is the guardrail on indexes that are asked in all partitions.
var indexAlone = guard{
	"non_partition_restricted_index_query_enabled",
	"Executing a query on secondary indexes without partition key restriction might degrade performance",
}

// intersection is the guardrail on rows that are compared with several values outside of their keys.
var intersection = guard{
	"intersect_filtering_query",
	"Filtering queries involving an intersection on multiple mutable (i.e. non-key) columns over unrepaired data at read " +
		"consistency levels that would require coordinator reconciliation may violate the guarantees of those consistency levels.",
}

// Intersection guards reads that compare rows with several values outside of their keys, where replicas have to agree.
func (c *Check) Intersection() error {
	return c.allowOrWarn(intersection, c.Settings.IntersectFilteringQueryEnabled, c.Settings.IntersectFilteringQueryWarned,
		"Filtering query with intersection on mutable columns at consistency level requiring coordinator reconciliation")
}

// IndexWithoutPartition guards reads by an index in all partitions.
func (c *Check) IndexWithoutPartition() error {
	return c.allow(indexAlone, c.Settings.IndexWithoutPartition, "Non-partition key restricted query")
}
