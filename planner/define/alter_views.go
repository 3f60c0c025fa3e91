package define

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// withViews puts a changed table into the catalog, and the views that follow it. Events tell of these behind the table.
func withViews(c *schema.Catalog, old, changed *schema.Table) (*schema.Catalog, Outcome) {
	next, out := c.WithTable(changed), told(schema.Updated, schema.TargetTable, old.Keyspace, old.Name)
	for _, v := range c.Keyspace(old.Keyspace).ViewsOf(old) {
		if follows := following(v, old, changed); follows != v {
			next = next.WithTable(follows)
			out.Events = append(out.Events, schema.Change{
				Kind: schema.Updated, Target: schema.TargetTable, Keyspace: v.Keyspace, Name: v.Name,
			})
		}
	}
	return next, out
}

// following is a view with the names that columns of its base's key have now, and the columns that it has more.
func following(v, old, changed *schema.Table) *schema.Table {
	var added []*schema.Column
	for _, c := range changed.Regular {
		if old.Column(c.Name) == nil {
			added = append(added, c)
		}
	}
	if len(added) > 0 {
		v = v.WithBaseColumns(added...)
	}
	for i, c := range changed.Columns[:len(old.PartitionKey)+len(old.Clustering)] {
		if from := old.Columns[i].Name; from != c.Name {
			v = v.WithBaseColumnRenamed(from, c.Name)
		}
	}
	return v
}

// checkViewsGrace refuses gc_grace_seconds that views cannot be made with.
func checkViewsGrace(c *schema.Catalog, changed *schema.Table) error {
	if changed.Options.GCGraceSeconds > 0 || len(c.Keyspace(changed.Keyspace).ViewsOf(changed)) == 0 {
		return nil
	}
	return cqlerr.Invalidf("Cannot alter gc_grace_seconds of the base table of a materialized view to 0, since this " +
		"value is used to TTL undelivered updates. Setting gc_grace_seconds too low might cause undelivered updates to " +
		"expire before being replayed.")
}
