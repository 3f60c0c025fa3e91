package guardrail

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/schema"
)

// Keyspace guards CREATE KEYSPACE in a catalog.
func (c *Check) Keyspace(catalog *schema.Catalog, name string) error {
	if c == nil || !c.Settings.Keyspaces.isOn() {
		return nil
	}
	n := int64(len(userKeyspaces(catalog))) + 1
	return c.above(guard{name: "keyspaces"}, c.Settings.Keyspaces, n, func(limit int64, warning bool) string {
		if warning {
			return fmt.Sprintf("Creating keyspace %s, current number of keyspaces %d exceeds warning threshold of %d.", name, n, limit)
		}
		return fmt.Sprintf("Cannot have more than %d keyspaces, aborting the creation of keyspace %s", limit, name)
	})
}

// userKeyspaces are the keyspaces that do not come with the server.
func userKeyspaces(catalog *schema.Catalog) (users []*schema.Keyspace) {
	for _, k := range catalog.Keyspaces() {
		if !schema.IsSystem(k.Name) && !k.Virtual {
			users = append(users, k)
		}
	}
	return users
}

// Strategy guards the class of a keyspace's replication, as it was written.
func (c *Check) Strategy(class string) error {
	if c == nil || class != "SimpleStrategy" {
		return nil
	}
	return c.allow(guard{name: "simplestrategy"}, c.Settings.SimpleStrategyEnabled, "SimpleStrategy")
}

// ReplicationFactor guards the replication factor of a keyspace.
func (c *Check) ReplicationFactor(keyspace string, factor int) error {
	if c == nil {
		return nil
	}
	text := func(side string) wording {
		return func(limit int64, warning bool) string {
			return fmt.Sprintf("The keyspace %s has a replication factor of %d, %s the %s threshold of %d.", keyspace, factor, side,
				kind(warning), limit)
		}
	}
	n := int64(factor)
	err := c.below(guard{name: "minimum_replication_factor"}, c.Settings.MinimumReplicationFactor, n, text("below"))
	if err != nil {
		return err
	}
	return c.above(guard{name: "maximum_replication_factor"}, c.Settings.MaximumReplicationFactor, n, text("above"))
}

// DropKeyspace guards DROP KEYSPACE.
func (c *Check) DropKeyspace() error {
	if c == nil {
		return nil
	}
	return c.allow(guard{name: "drop_keyspace_enabled"}, c.Settings.DropKeyspaceEnabled, "DROP KEYSPACE functionality")
}

// Table guards the number of tables when CREATE TABLE makes another one.
func (c *Check) Table(catalog *schema.Catalog, name string) error {
	if c == nil || !c.Settings.Tables.isOn() {
		return nil
	}
	n := int64(1)
	for _, k := range userKeyspaces(catalog) {
		n += int64(len(k.Tables) + len(k.Views))
	}
	return c.above(guard{name: "tables"}, c.Settings.Tables, n, func(limit int64, warning bool) string {
		if warning {
			return fmt.Sprintf("Creating table %s, current number of tables %d exceeds warning threshold of %d.", name, n, limit)
		}
		return fmt.Sprintf("Cannot have more than %d tables, aborting the creation of table %s", limit, name)
	})
}

// Columns guards the number of columns of a table.
func (c *Check) Columns(table string, columns int) error {
	if c == nil {
		return nil
	}
	g := guard{name: "columns_per_table"}
	return c.above(g, c.Settings.ColumnsPerTable, int64(columns), func(limit int64, warning bool) string {
		if warning {
			return fmt.Sprintf("The table %s has %d columns, this exceeds the warning threshold of %d.", table, columns, limit)
		}
		return fmt.Sprintf("Tables cannot have more than %d columns, but %d provided for table %s", limit, columns, table)
	})
}

// AlterTable guards the changes of columns by ALTER TABLE.
func (c *Check) AlterTable() error {
	if c == nil {
		return nil
	}
	return c.allow(guard{name: "alter_table"}, c.Settings.AlterTableEnabled, "ALTER TABLE changing columns")
}

// DropTable guards DROP TABLE and TRUNCATE.
func (c *Check) DropTable() error {
	if c == nil {
		return nil
	}
	return c.allow(guard{name: "drop_truncate_table_enabled"}, c.Settings.DropTruncateTableEnabled,
		"DROP and TRUNCATE TABLE functionality")
}

// CompactTable guards WITH COMPACT STORAGE.
func (c *Check) CompactTable() error {
	if c == nil {
		return nil
	}
	return c.allow(guard{name: "compact_tables"}, c.Settings.CompactTablesEnabled, "Creation of new COMPACT STORAGE tables")
}

// Uncompressed guards tables without compression.
func (c *Check) Uncompressed() error {
	if c == nil {
		return nil
	}
	return c.allow(guard{name: "uncompressed_tables_enabled"}, c.Settings.UncompressedTablesEnabled, "Uncompressed table")
}

// zeroTTL is the guardrail on tables in time windows whose rows do not expire.
var zeroTTL = guard{"zero_ttl_on_twcs", "It is suspicious to use default_time_to_live set to 0 with such compaction " +
	"strategy. Please keep in mind that data will not start to automatically expire after they are older than a respective " +
	"compaction window unit of a certain size. Please set TTL for your INSERT or UPDATE statements if you expect data to be " +
	"expired as table settings will not do it. "}

// ZeroTTL guards tables that are compacted in time windows and whose rows do not expire by default.
func (c *Check) ZeroTTL() error {
	if c == nil {
		return nil
	}
	return c.allowOrWarn(zeroTTL, c.Settings.ZeroTTLOnTWCSEnabled, c.Settings.ZeroTTLOnTWCSWarned,
		"0 default_time_to_live on a table with TimeWindowCompactionStrategy compaction strategy")
}

// TableProperties guards the names of the properties in a WITH clause. It returns the names without the ones to
// ignore.
func (c *Check) TableProperties(props []schema.Property) ([]schema.Property, error) {
	if c == nil || !c.Settings.TableProperties.isOn() {
		return props, nil
	}
	g, settings := guard{name: "table_properties"}, c.Settings.TableProperties
	names := make([]string, len(props))
	for i, p := range props {
		names[i] = p.Name
	}
	slices.Sort(names)
	list := func(names []string) string { return "[" + strings.Join(names, ", ") + "]" }
	if found := among(names, settings.Disallowed); len(found) > 0 {
		return nil, c.refuse(g, fmt.Sprintf("Provided values %s are not allowed for Table Properties (disallowed values are: %s)",
			list(found), schema.HashSet(slices.Clone(settings.Disallowed))))
	}
	ignored := among(names, settings.Ignored)
	if len(ignored) > 0 {
		c.warn(g, fmt.Sprintf("Ignoring provided values %s as they are not supported for Table Properties (ignored values are: %s)",
			list(ignored), schema.HashSet(slices.Clone(settings.Ignored))))
		props = c.KeptProperties(props)
	}
	if found := among(names, settings.Warned); len(found) > 0 {
		c.warn(g, fmt.Sprintf("Provided values %s are not recommended for Table Properties (warned values are: %s)", list(found),
			schema.HashSet(slices.Clone(settings.Warned))))
	}
	return props, nil
}

// KeptProperties are properties without those to be ignored.
func (c *Check) KeptProperties(props []schema.Property) []schema.Property {
	if c == nil || len(c.Settings.TableProperties.Ignored) == 0 {
		return props
	}
	ignored := c.Settings.TableProperties.Ignored
	return slices.DeleteFunc(slices.Clone(props), func(p schema.Property) bool { return slices.Contains(ignored, p.Name) })
}

// CreateIndex guards CREATE INDEX.
func (c *Check) CreateIndex() error {
	if c == nil {
		return nil
	}
	return c.allow(guard{name: "secondary_indexes"}, c.Settings.SecondaryIndexesEnabled, "Creating secondary indexes")
}

// Indexes guards the number of indexes of a table. The name of the next one may be empty.
func (c *Check) Indexes(table, name string, indexes int) error {
	if c == nil {
		return nil
	}
	what := "on table " + table
	if name != "" {
		what = name + " " + what
	}
	g := guard{name: "secondary_indexes_per_table"}
	return c.above(g, c.Settings.SecondaryIndexesPerTable, int64(indexes), func(limit int64, warning bool) string {
		if warning {
			return fmt.Sprintf("Creating secondary index %s, current number of indexes %d exceeds warning threshold of %d.", what,
				indexes, limit)
		}
		return fmt.Sprintf("Tables cannot have more than %d secondary indexes, aborting the creation of secondary index %s",
			limit, what)
	})
}

// Views guards the number of materialized views of a table.
func (c *Check) Views(table, name string, views int) error {
	if c == nil {
		return nil
	}
	what := name + " on table " + table
	g := guard{name: "materialized_views_per_table"}
	return c.above(g, c.Settings.MaterializedViewsPerTable, int64(views), func(limit int64, warning bool) string {
		if warning {
			return fmt.Sprintf("Creating materialized view %s, current number of views %d exceeds warning threshold of %d.", what,
				views, limit)
		}
		return fmt.Sprintf("Tables cannot have more than %d materialized views, aborting the creation of materialized view %s",
			limit, what)
	})
}

// Fields guards the number of fields of a user type.
func (c *Check) Fields(name string, fields int) error {
	if c == nil {
		return nil
	}
	g := guard{name: "fields_per_udt"}
	return c.above(g, c.Settings.FieldsPerUDT, int64(fields), func(limit int64, warning bool) string {
		if warning {
			return fmt.Sprintf("The user type %s has %d columns, this exceeds the warning threshold of %d.", name, fields, limit)
		}
		return fmt.Sprintf("User types cannot have more than %d columns, but %d provided for user type %s.", limit, fields, name)
	})
}

// Vector guards a vector in the type of a column or field, which is named: Column v, or Field v.
func (c *Check) Vector(what string, dimensions int) error {
	if c == nil {
		return nil
	}
	if err := c.allow(guard{name: "vector_type_enabled"}, c.Settings.VectorTypeEnabled, what); err != nil {
		return err
	}
	g := guard{name: "vector_dimensions"}
	return c.above(g, c.Settings.VectorDimensions, int64(dimensions), func(limit int64, warning bool) string {
		return fmt.Sprintf("%s has a vector of %d dimensions, this exceeds the %s threshold of %d.", what, dimensions,
			kind(warning), limit)
	})
}
