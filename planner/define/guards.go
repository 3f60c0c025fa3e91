package define

import (
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/guardrail"
)

// checkGuardrails applies the guardrails that Cassandra checks before it knows whether the table exists. It returns
// the definition without ignored properties.
func (d *CreateTable) checkGuardrails(c *schema.Catalog, guard *guardrail.Check) (*CreateTable, error) {
	props, err := guard.TableProperties(d.Properties)
	if err != nil {
		return nil, err
	}
	if len(props) < len(d.Properties) {
		left := *d
		left.Properties = props
		if left.Options, err = schema.ParseTableOptions(schema.DefaultTableOptions(), props); err != nil {
			return nil, err
		}
		d = &left
	}
	name := d.Name
	if err := guard.Columns(name, len(d.Statement.Columns)); err != nil {
		return nil, err
	}
	if err := guard.Table(c, name); err != nil {
		return nil, err
	}
	if d.Statement.CompactStorage {
		if err := guard.CompactTable(); err != nil {
			return nil, err
		}
	}
	if err := checkZeroTTL(guard, d.Options); err != nil {
		return nil, err
	}
	return d, checkVectors(guard, d.Statement.Columns)
}

// checkGuardrails applies the guardrails that Cassandra checks before it looks for the table. It returns the
// definition without ignored properties.
func (d *AlterTable) checkGuardrails(guard *guardrail.Check) (*AlterTable, error) {
	if guard == nil {
		return d, nil
	}
	switch change := d.Statement.Change.(type) {
	case *cql.AddColumns:
		return d, checkVectors(guard, change.Columns)
	case *cql.SetTableOptions:
		props, err := guard.TableProperties(d.Properties)
		if err != nil {
			return nil, err
		}
		left := *d
		left.Properties = props
		alone, err := schema.ParseTableOptions(schema.DefaultTableOptions(), props)
		if err != nil {
			return nil, err
		}
		return &left, checkZeroTTL(guard, alone)
	}
	return d, nil
}

// checkZeroTTL guards TimeWindowCompactionStrategy without a default TTL.
func checkZeroTTL(g *guardrail.Check, o schema.TableOptions) error {
	if o.DefaultTimeToLive > 0 || !strings.HasSuffix(o.Compaction["class"], ".TimeWindowCompactionStrategy") {
		return nil
	}
	return g.ZeroTTL()
}

// checkCompressed guards tables without compression.
func checkCompressed(g *guardrail.Check, o schema.TableOptions) error {
	if o.Compression["enabled"] != "false" {
		return nil
	}
	return g.Uncompressed()
}

// checkVectors guards the vectors in the types of columns.
func checkVectors(g *guardrail.Check, columns []cql.ColumnDefinition) error {
	if g == nil {
		return nil
	}
	names := make([]string, len(columns))
	named := map[string]cql.TypeName{}
	for i, c := range columns {
		names[i], named[c.Name] = c.Name, c.Type
	}
	for _, name := range schema.NamesInHashOrder(names) {
		if err := checkVector(g, "Column "+name, named[name]); err != nil {
			return err
		}
	}
	return nil
}

// checkVector guards the vectors in a type.
func checkVector(g *guardrail.Check, owner string, t cql.TypeName) error {
	if t.Name == "vector" && !t.User {
		return g.Vector(owner, t.Dimension)
	}
	for _, arg := range t.Args {
		if err := checkVector(g, owner, arg); err != nil {
			return err
		}
	}
	return nil
}

// checkFactors guards the replication factors of a keyspace.
func checkFactors(g *guardrail.Check, k *schema.Keyspace) error {
	if g == nil || schema.IsSystem(k.Name) {
		return nil
	}
	for option, factor := range k.Replication {
		if option == "class" {
			continue
		}
		factor, _, _ = strings.Cut(factor, "/")
		n, err := strconv.Atoi(factor)
		if err != nil {
			return err
		}
		if err := g.ReplicationFactor(k.Name, n); err != nil {
			return err
		}
	}
	return nil
}

// checkStrategy guards the replication class as written.
func checkStrategy(g *guardrail.Check, props []schema.Property) error {
	for _, p := range props {
		if p.Name == "replication" {
			return g.Strategy(p.Map["class"])
		}
	}
	return nil
}

// Validate implements Validated.
func (d *CreateTable) Validate(c *schema.Catalog, guard *guardrail.Check) error {
	_, err := d.checkGuardrails(c, guard)
	return err
}

// Validate implements Validated.
func (d *AlterTable) Validate(_ *schema.Catalog, guard *guardrail.Check) error {
	_, err := d.checkGuardrails(guard)
	return err
}

// Validate implements Validated.
func (d *CreateKeyspace) Validate(c *schema.Catalog, guard *guardrail.Check) error {
	return guard.Keyspace(c, d.Name)
}

// Validate implements Validated.
func (d *CreateType) Validate(_ *schema.Catalog, guard *guardrail.Check) error {
	if err := guard.Fields(d.Name, len(d.Statement.Fields)); err != nil {
		return err
	}
	for _, f := range d.Statement.Fields {
		if err := checkVector(guard, "Field "+f.Name, f.Type); err != nil {
			return err
		}
	}
	return nil
}
