package define

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/scope"
)

// addColumns returns the table with added columns.
func addColumns(
	catalog *schema.Catalog, t *schema.Table, change *cql.AddColumns, r Run,
) (*schema.Table, error) {
	var added []*schema.Column
	for _, def := range change.Columns {
		c, err := newColumn(catalog, t, def, r.Time)
		if err != nil {
			return nil, err
		}
		same := func(o *schema.Column) bool { return o.Name == c.Name }
		if t.Column(c.Name) != nil || slices.ContainsFunc(added, same) {
			if change.IfNotExists {
				continue
			}
			return nil, cqlerr.Invalidf("Column with name '%s' already exists", c.Name)
		}
		if err := checkAdded(t, c); err != nil {
			return nil, err
		}
		added = append(added, c)
	}
	changed := t.WithColumns(added)
	if err := cmp.Or(r.Guard.Columns(t.Name, len(changed.Columns)), changed.Options.Validate()); err != nil {
		return nil, err
	}
	return changed, checkCountersAlone(t.Counter, changed)
}

// newColumn returns the column that ADD declares.
func newColumn(
	catalog *schema.Catalog, t *schema.Table, def cql.ColumnDefinition, micros int64,
) (*schema.Column, error) {
	k := catalog.Keyspace(t.Keyspace)
	c := &schema.Column{Name: def.Name, Kind: schema.Regular}
	if def.Static {
		c.Kind = schema.Static
	}
	var err error
	if c.Type, err = scope.Type(k, def.Type); err != nil {
		return nil, err
	}
	if err := checkTypeSize(c.Type); err != nil {
		return nil, err
	}
	if def.Mask != nil {
		c.Mask, err = mask(catalog, t, c, def.Mask, micros)
	}
	return c, err
}

// checkAdded refuses a column that the table cannot have.
func checkAdded(t *schema.Table, c *schema.Column) error {
	if t.Compact != schema.NotCompact {
		return cqlerr.Invalidf("Cannot add new column to a COMPACT STORAGE table")
	}
	if c.Kind == schema.Static && len(t.Clustering) == 0 {
		return errUselessStatic
	}
	if hasNestedCells(c.Type) {
		return cqlerr.Invalidf("Non-frozen UDTs with nested non-frozen collections are not supported for column %s", c.Name)
	}
	d := t.DroppedColumn(c.Name)
	switch {
	case d == nil:
		return nil
	case !types.Readable(c.Type, d.Type):
		return cqlerr.Invalidf("Cannot add a column '%s' of type %s, incompatible with previously dropped column '%s' of "+
			"type %s", c.Name, c.Type, c.Name, d.Type)
	case c.Kind != d.Kind:
		return cqlerr.Invalidf("Cannot re-add previously dropped column '%s' of kind %s, incompatible with previous kind %s",
			c.Name, strings.ToUpper(c.Kind.String()), strings.ToUpper(d.Kind.String()))
	case t.Counter:
		return cqlerr.Invalidf("Cannot re-add previously dropped counter column %s", c.Name)
	}
	return nil
}

// checkCountersAlone refuses counters in a table without counters, and other columns in a counter table.
func checkCountersAlone(counters bool, t *schema.Table) error {
	for _, c := range t.InCreateOrder() {
		switch counter := c.Type == types.Counter; {
		case c.Kind.IsKey() || counter == counters:
		case counter:
			return cqlerr.Configf(`%s.%s: Cannot have a counter column ("%s") in a non counter table`, t.Keyspace, t.Name,
				c.Name)
		default:
			return cqlerr.Configf(`%s.%s: Cannot have a non counter column ("%s") in a counter table`, t.Keyspace, t.Name,
				c.Name)
		}
	}
	return nil
}

// dropColumns returns the table without the dropped columns.
func dropColumns(
	catalog *schema.Catalog, t *schema.Table, change *cql.DropColumns, micros int64,
) (*schema.Table, error) {
	var dropped []string
	for _, name := range schema.NamesInHashOrder(change.Columns) {
		c := t.Column(name)
		if c == nil && change.IfExists {
			continue
		}
		if err := checkDropped(t, name, c); err != nil {
			return nil, err
		}
		if len(catalog.Keyspace(t.Keyspace).ViewsOf(t)) > 0 {
			return nil, cqlerr.Invalidf("Cannot drop column %s on base table %s with materialized views", name, t.Name)
		}
		if c == t.KeepsRows() {
			return nil, cqlerr.Invalidf("Cannot drop column %s, which keeps the rows of a table with COMPACT STORAGE", name)
		}
		dropped = append(dropped, name)
	}
	at := micros
	if change.Timestamp != nil {
		var err error
		if at, err = strconv.ParseInt(change.Timestamp.Text, 10, 64); err != nil {
			return nil, cqlerr.Syntaxf("Invalid timestamp %s", change.Timestamp.Text)
		}
	}
	return t.WithoutColumns(dropped, at), nil
}

// checkDropped refuses to drop a column that must stay.
func checkDropped(t *schema.Table, name string, c *schema.Column) error {
	if c == nil {
		return cqlerr.Invalidf("Column %s was not found in table '%s'", name, scope.QuotedTable(t))
	}
	if c.Kind.IsKey() {
		return cqlerr.Invalidf("Cannot drop PRIMARY KEY column %s", name)
	}
	if u, ok := c.Type.(*types.UserType); ok && !u.Frozen {
		return cqlerr.Invalidf("Cannot drop non-frozen column %s of user type %s", name, u)
	}
	if indexes := t.IndexesOn(name); len(indexes) > 0 {
		return cqlerr.Invalidf("Cannot drop column %s because it has dependent secondary indexes (%s)", name,
			indexNames(indexes))
	}
	return nil
}

// renameColumns returns the table with renamed key columns. If a column is renamed twice the last name counts.
func renameColumns(t *schema.Table, change *cql.RenameColumns) (*schema.Table, error) {
	to := map[string]string{}
	var names []string
	for _, r := range change.Renames {
		names = append(names, r.From)
		to[r.From] = r.To
	}
	changed := *t
	changed.Columns = slices.Clone(t.Columns)
	for _, name := range schema.NamesInHashOrder(names) {
		if err := checkRenamed(t, changed.Columns, name, to[name]); err != nil {
			return nil, err
		}
		c := *t.Column(name)
		c.Name = to[name]
		changed.Columns[c.Index] = &c
	}
	return schema.NewTable(changed), nil
}

// checkRenamed refuses a name for a column of the table, whose others may have been renamed already.
func checkRenamed(t *schema.Table, renamed []*schema.Column, from, to string) error {
	c := t.Visible(from)
	if c == nil {
		return scope.UndefinedColumn(t, from)
	}
	if !c.Kind.IsKey() {
		return cqlerr.Invalidf("Cannot rename non PRIMARY KEY column %s", from)
	}
	taken := func(c *schema.Column) bool { return c.Name == to }
	if t.Column(to) != nil || slices.ContainsFunc(renamed, taken) {
		return cqlerr.Invalidf("Cannot rename column %s to %s in table '%s'; another column with that name already exists",
			from, to, scope.QuotedTable(t))
	}
	if indexes := t.IndexesOn(from); len(indexes) > 0 {
		return cqlerr.Invalidf("Can't rename column %s because it has dependent secondary indexes (%s)", from,
			indexNames(indexes))
	}
	return nil
}

// indexNames lists the names of indexes.
func indexNames(indexes []*schema.Index) string {
	names := make([]string, len(indexes))
	for i, x := range indexes {
		names[i] = x.Name
	}
	return strings.Join(names, ", ")
}

// withViews puts a changed table and its changed views into the catalog. Events report the table first.
func withViews(c *schema.Catalog, old, changed *schema.Table) (*schema.Catalog, Outcome) {
	next, out := c.WithTable(changed), reported(schema.Updated, schema.TargetTable, old.Keyspace, old.Name)
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

// following returns a view adapted to renamed key columns and added columns of its base.
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

// checkViewsGrace refuses gc_grace_seconds = 0 for a table with views.
func checkViewsGrace(c *schema.Catalog, changed *schema.Table) error {
	if changed.Options.GCGraceSeconds > 0 || len(c.Keyspace(changed.Keyspace).ViewsOf(changed)) == 0 {
		return nil
	}
	return cqlerr.Invalidf("Cannot alter gc_grace_seconds of the base table of a materialized view to 0, since this " +
		"value is used to TTL undelivered updates. Setting gc_grace_seconds too low might cause undelivered updates to " +
		"expire before being replayed.")
}

// checkCompact refuses columns outside the key that COMPACT STORAGE does not allow.
func checkCompact(others []*schema.Column, static, clustered bool) error {
	switch {
	case slices.ContainsFunc(others, func(c *schema.Column) bool { return types.IsMultiCell(c.Type) }):
		return cqlerr.Invalidf("Non-frozen collections and UDTs are not supported with COMPACT STORAGE")
	case static:
		return cqlerr.Invalidf("Static columns are not supported in COMPACT STORAGE tables")
	case !clustered && len(others) == 0:
		return cqlerr.Invalidf("No definition found that is not part of the PRIMARY KEY")
	case clustered && len(others) > 1:
		return cqlerr.Invalidf("COMPACT STORAGE with composite PRIMARY KEY allows no more than one column not part of the "+
			"PRIMARY KEY (got: %s)", strings.Join(schema.ColumnNames(others), ", "))
	}
	return nil
}

// dropCompactStorage returns the table as an ordinary one.
func dropCompactStorage(t *schema.Table) (*schema.Table, error) {
	if t.Compact == schema.NotCompact {
		return nil, cqlerr.Invalidf("Cannot DROP COMPACT STORAGE on table without COMPACT STORAGE")
	}
	return t.WithoutCompactStorage(), nil
}
