package define

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/scope"
)

// columns returns the checked columns of the table.
func (d *CreateTable) columns(k *schema.Keyspace) ([]*schema.Column, error) {
	s := d.Statement
	byName := map[string]*schema.Column{}
	sorted := slices.Clone(s.Columns)
	slices.SortFunc(sorted, func(a, b cql.ColumnDefinition) int { return strings.Compare(a.Name, b.Name) })
	for _, def := range sorted {
		t, err := scope.Type(k, def.Type)
		if err != nil {
			return nil, err
		}
		if err := checkTypeSize(t); err != nil {
			return nil, err
		}
		kind := schema.Regular
		if def.Static {
			kind = schema.Static
		}
		byName[def.Name] = &schema.Column{Name: def.Name, Type: t, Kind: kind, Desc: types.IsReversedClass(def.Type.Class)}
	}
	if err := checkNesting(sorted, byName); err != nil {
		return nil, err
	}
	key := declaredKeys(s)[0]
	columns, err := keyColumns(s, key, byName)
	if err != nil {
		return nil, err
	}
	if err := checkClusteringOrder(s, key.Clustering, byName); err != nil {
		return nil, err
	}
	static := false
	var others []*schema.Column
	for _, def := range sorted {
		c := byName[def.Name]
		c.Desc = c.Desc && c.Kind == schema.Clustering
		if c.Kind.IsKey() {
			continue
		}
		static = static || c.Kind == schema.Static
		others = append(others, c)
	}
	switch {
	case s.CompactStorage:
		if err := checkCompact(others, static, len(key.Clustering) > 0); err != nil {
			return nil, err
		}
	case static && len(key.Clustering) == 0:
		return nil, errUselessStatic
	}
	columns = append(columns, others...)
	return columns, checkCounters(columns, d.Options.DefaultTimeToLive)
}

// checkNesting refuses non-frozen collections inside non-frozen user types: cells cannot contain cells.
func checkNesting(sorted []cql.ColumnDefinition, byName map[string]*schema.Column) error {
	for _, def := range sorted {
		if hasNestedCells(byName[def.Name].Type) {
			return cqlerr.Invalidf("Non-frozen UDTs with nested non-frozen collections are not supported")
		}
	}
	return nil
}

// checkClasses refuses quoted classes that are not types. Other types are resolved when the table is created.
func checkClasses(columns []cql.ColumnDefinition) error {
	for _, def := range columns {
		if err := checkClass(def.Type); err != nil {
			return err
		}
	}
	return nil
}

// checkClass is checkClasses for one type and its parts.
func checkClass(n cql.TypeName) error {
	for _, arg := range n.Args {
		if err := checkClass(arg); err != nil {
			return err
		}
	}
	if !n.IsClass() {
		return nil
	}
	_, err := scope.ClassType(n.Class)
	return err
}

// hasNestedCells reports whether a type is a non-frozen user type with non-frozen collections.
func hasNestedCells(t types.Type) bool {
	u, ok := t.(*types.UserType)
	return ok && !u.Frozen && slices.ContainsFunc(u.Fields, func(f types.Field) bool { return types.IsMultiCell(f.Type) })
}

// errUselessStatic refuses static columns in tables whose partitions have one row.
var errUselessStatic = cqlerr.Invalidf("Static columns are only useful (and thus allowed) if the table has at least " +
	"one clustering column")

// keyColumns returns the columns of the primary key and sets their kinds.
func keyColumns(s *cql.CreateTable, key cql.PrimaryKey, byName map[string]*schema.Column) ([]*schema.Column, error) {
	var columns []*schema.Column
	for i, name := range slices.Concat(key.Partition, key.Clustering) {
		c := byName[name]
		if c == nil {
			return nil, cqlerr.Invalidf("Unknown column '%s' referenced in PRIMARY KEY for table '%s'", name, s.Table.Name)
		}
		if slices.Contains(columns, c) {
			return nil, cqlerr.Invalidf("Duplicate column '%s' in PRIMARY KEY clause for table '%s'", name, s.Table.Name)
		}
		if err := checkKeyType(c); err != nil {
			return nil, err
		}
		if c.Kind == schema.Static {
			return nil, cqlerr.Invalidf("Static column '%s' cannot be part of the PRIMARY KEY", name)
		}
		columns = append(columns, c)
		if i >= len(key.Partition) {
			c.Kind = schema.Clustering
		}
	}
	for _, c := range columns[:len(key.Partition)] {
		c.Kind = schema.PartitionKey
	}
	return columns, nil
}

// checkKeyType refuses types that cannot be in a primary key.
func checkKeyType(c *schema.Column) error {
	if u, ok := c.Type.(*types.UserType); ok && !u.Frozen {
		return cqlerr.Invalidf("Invalid non-frozen user-defined type %s for PRIMARY KEY column '%s'",
			quote.Name(u.Keyspace+"."+u.Name), c.Name)
	}
	if types.IsMultiCell(c.Type) {
		return cqlerr.Invalidf("Invalid non-frozen collection type %s for PRIMARY KEY column '%s'", c.Type, c.Name)
	}
	if c.Type == types.Counter {
		return cqlerr.Invalidf("counter type is not supported for PRIMARY KEY column '%s'", c.Name)
	}
	return checkNoDuration(c)
}

// checkNoDuration refuses durations in a primary key: they have no order.
func checkNoDuration(c *schema.Column) error {
	if types.HasDuration(c.Type) {
		return cqlerr.Invalidf("duration type is not supported for PRIMARY KEY column '%s'", c.Name)
	}
	return nil
}

// checkClusteringOrder applies CLUSTERING ORDER BY, which must list the first clustering columns in order.
func checkClusteringOrder(s *cql.CreateTable, clustering []string, byName map[string]*schema.Column) error {
	ordered := map[string]bool{}
	var others []string
	for _, o := range s.Order {
		ordered[o.Column] = true
		if !slices.Contains(clustering, o.Column) {
			others = append(others, o.Column)
		}
	}
	if len(others) > 0 {
		return cqlerr.Invalidf("Only clustering key columns can be defined in CLUSTERING ORDER directive: [%s] are not "+
			"clustering columns", strings.Join(others, ", "))
	}
	for i, o := range s.Order {
		if want := clustering[i]; want != o.Column {
			if ordered[want] {
				return cqlerr.Invalidf("The order of columns in the CLUSTERING ORDER directive must match that of the "+
					"clustering columns (%s must appear before %s)", want, o.Column)
			}
			return cqlerr.Invalidf("Missing CLUSTERING ORDER for column %s", want)
		}
		if o.Desc {
			byName[o.Column].Desc = true // a reversed class stays reversed
		}
	}
	return nil
}

// checkCounters refuses counters together with other columns, and expiring counters.
func checkCounters(columns []*schema.Column, ttl int) error {
	counter, other := false, false
	for _, c := range columns {
		counter = counter || c.Type == types.Counter
		other = other || !c.Kind.IsKey() && c.Type != types.Counter
	}
	if counter && other {
		return cqlerr.Invalidf("Cannot mix counter and non counter columns in the same table")
	}
	return checkCountersStay(counter, ttl)
}

// checkCountersStay refuses expiring counters.
func checkCountersStay(counter bool, ttl int) error {
	if counter && ttl > 0 {
		return cqlerr.Invalidf("Cannot set default_time_to_live on a table with counters")
	}
	return nil
}
