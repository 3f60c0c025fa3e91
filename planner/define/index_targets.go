package define

import (
	"regexp"
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/scope"
	"github.com/cqld/cqld/planner/where"
)

// targets returns the checked targets of the index.
func (d *CreateIndex) targets(t *schema.Table) ([]schema.IndexTarget, error) {
	written := d.Statement.Targets
	targets := make([]schema.IndexTarget, len(written))
	for i, w := range written {
		c, err := scope.Column(t, cql.ColumnRef{Name: w.Column})
		if err != nil {
			return nil, err
		}
		targets[i] = schema.IndexTarget{Column: c.Name, Part: schema.IndexPart(w.Kind)}
		// Cassandra does not see that a clustering column in descending order is a collection.
		if key, value := types.ElementTypes(c.Type); w.Kind == cql.IndexColumn && !c.Desc && (key != nil || value != nil) {
			targets[i].Part = schema.IndexValues
		}
	}
	if !d.Custom && len(targets) == 0 {
		return nil, cqlerr.Invalidf("Only CUSTOM indexes can be created without specifying a target column")
	}
	if !d.Custom && len(targets) > 1 {
		return nil, cqlerr.Invalidf("Only CUSTOM indexes support multiple columns")
	}
	for i, target := range targets {
		same := func(o schema.IndexTarget) bool { return o.Column == target.Column }
		if slices.ContainsFunc(targets[:i], same) {
			return nil, cqlerr.Invalidf("Duplicate column '%s' in index target list", target.Column)
		}
	}
	for _, target := range targets {
		if err := d.checkTarget(t, target); err != nil {
			return nil, err
		}
	}
	return targets, nil
}

// maxCustomTarget is the maximal length of the name of a column with a custom index.
const maxCustomTarget = 48

var customTarget = regexp.MustCompile(`^\w+$`)

// checkTarget refuses columns that cannot be indexed.
func (d *CreateIndex) checkTarget(t *schema.Table, target schema.IndexTarget) error {
	c := t.Column(target.Column)
	if d.Custom && !customTarget.MatchString(c.Name) {
		return cqlerr.Invalidf("Column '%s' contains non-alphanumeric-underscore characters", c.Name)
	}
	if d.Custom && len(c.Name) > maxCustomTarget {
		return cqlerr.Invalidf("Column '%s' is longer than the permissible name length of %d characters", c.Name,
			maxCustomTarget)
	}
	if types.HasDuration(c.Type) {
		return cqlerr.Invalidf("Secondary indexes are not supported on %s", where.DurationColumns(c.Type))
	}
	if t.Compact != schema.NotCompact && c.Kind.IsKey() {
		return cqlerr.Invalidf("Secondary indexes are not supported on PRIMARY KEY columns in COMPACT STORAGE tables")
	}
	if t.Compact != schema.NotCompact && c == t.KeepsRows() {
		return cqlerr.Invalidf("Secondary indexes are not supported on compact value column of COMPACT STORAGE tables")
	}
	if c.Kind == schema.PartitionKey && len(t.PartitionKey) == 1 {
		return cqlerr.Invalidf("Cannot create secondary index on the only partition key column %s", c.Name)
	}
	return checkIndexPart(c, target.Part)
}

// checkIndexPart refuses parts that a column does not have.
func checkIndexPart(c *schema.Column, part schema.IndexPart) error {
	_, isMap := c.Type.(*types.Map)
	key, value := types.ElementTypes(c.Type)
	collection, cells := key != nil || value != nil, types.IsMultiCell(c.Type)
	switch {
	case collection && !cells && part != schema.IndexFull:
		return cqlerr.Invalidf("Cannot create %s() index on frozen column %s. Frozen collections are immutable and must be "+
			"fully indexed by using the 'full(%s)' modifier", part, c.Name, quote.Name(c.Name))
	case (!collection || cells) && part == schema.IndexFull:
		return cqlerr.Invalidf("full() indexes can only be created on frozen collections")
	case !collection && part != schema.IndexSimple:
		return cqlerr.Invalidf("Cannot create %s() index on %s. Non-collection columns only support simple indexes", part,
			c.Name)
	case (part == schema.IndexKeys || part == schema.IndexEntries) && !isMap:
		return cqlerr.Invalidf("Cannot create index on %s of column %s with non-map type", part, c.Name)
	case !collection && cells:
		return cqlerr.Invalidf("Cannot create index on non-frozen UDT column %s", c.Name)
	}
	return nil
}
