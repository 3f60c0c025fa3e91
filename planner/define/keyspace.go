package define

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
)

// CreateKeyspace defines a keyspace.
type CreateKeyspace struct {
	target
	IfNotExists bool
	Properties  []schema.Property
	Placement   schema.Placement
}

// createKeyspace plans CREATE KEYSPACE.
func (p *planning) createKeyspace(s *cql.CreateKeyspace) (*CreateKeyspace, error) {
	return &CreateKeyspace{
		target: target{"create keyspace", "", s.Name}, IfNotExists: s.IfNotExists, Properties: properties(s.Properties),
		Placement: p.placement(),
	}, nil
}

// placement describes the cluster for replication strategies.
func (p *planning) placement() schema.Placement {
	return schema.Placement{
		Datacenter: cmp.Or(p.env.Datacenter, "datacenter1"), Factor: p.env.ReplicationFactor, Nodes: p.env.Nodes,
	}
}

// Apply adds the keyspace.
func (d *CreateKeyspace) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	if err := cmp.Or(
		r.Guard.Keyspace(c, d.Name),
		schema.CheckKeyspaceName(d.Name),
		schema.CheckKeyspaceProperties(d.Properties),
	); err != nil {
		return nil, Outcome{}, err
	}
	if err := checkStrategy(r.Guard, d.Properties); err != nil {
		return nil, Outcome{}, err
	}
	if c.Keyspace(d.Name) != nil {
		return skipOr(d.IfNotExists, c, cqlerr.KeyspaceExists(d.Name))
	}
	k, warnings, err := schema.NewKeyspace(d.Name, d.Properties, d.Placement)
	if err != nil {
		return nil, Outcome{}, err
	}
	if err := checkFactors(r.Guard, k); err != nil {
		return nil, Outcome{}, err
	}
	out := reported(schema.Created, schema.TargetKeyspace, d.Name, "")
	out.Warnings = warnings
	return c.WithKeyspace(k), out, nil
}

// DropKeyspace removes a keyspace and everything in it.
type DropKeyspace struct {
	target
	IfExists bool
}

// dropKeyspace plans DROP KEYSPACE.
func (p *planning) dropKeyspace(s *cql.DropKeyspace) (*DropKeyspace, error) {
	return &DropKeyspace{target{"drop keyspace", "", s.Name}, s.IfExists}, nil
}

// Apply removes the keyspace. Events report its aggregates, functions, views, tables (the oldest first) and types.
func (d *DropKeyspace) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	if err := checkSchemaChange("DROP", d.Name, "<keyspace "+d.Name+">"); err != nil {
		return nil, Outcome{}, err
	}
	if err := r.Guard.DropKeyspace(); err != nil {
		return nil, Outcome{}, err
	}
	k := c.Keyspace(d.Name)
	if k == nil {
		return skipOr(d.IfExists, c, keyspaceMissing(d.Name))
	}
	out := Outcome{Answer: schema.Change{Kind: schema.Dropped, Target: schema.TargetKeyspace, Keyspace: d.Name}}
	for _, routine := range k.RoutinesByUse() {
		out.Events = append(out.Events, routineChange(schema.Dropped, routine))
	}
	for _, t := range slices.Concat(k.SortedViews(), k.TablesByAge()) {
		out.Events = append(out.Events, schema.Change{
			Kind: schema.Dropped, Target: schema.TargetTable, Keyspace: d.Name, Name: t.Name,
		})
	}
	for _, t := range k.SortedTypes() {
		out.Events = append(out.Events, schema.Change{
			Kind: schema.Dropped, Target: schema.TargetType, Keyspace: d.Name, Name: t.Name,
		})
	}
	out.Events = append(out.Events, out.Answer)
	return c.WithoutKeyspace(d.Name), out, nil
}

// AlterKeyspace changes the options of a keyspace.
type AlterKeyspace struct {
	target
	IfExists   bool
	Properties []schema.Property
	Placement  schema.Placement
}

// alterKeyspace plans ALTER KEYSPACE.
func (p *planning) alterKeyspace(s *cql.AlterKeyspace) (*AlterKeyspace, error) {
	return &AlterKeyspace{
		target: target{"alter keyspace", "", s.Name}, IfExists: s.IfExists, Properties: properties(s.Properties),
		Placement: p.placement(),
	}, nil
}

// Apply changes the keyspace.
func (d *AlterKeyspace) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	if schema.IsLocal(strings.ToLower(d.Name)) {
		return nil, Outcome{}, NotModifiable(d.Name)
	}
	if err := cmp.Or(schema.CheckKeyspaceName(d.Name), schema.CheckKeyspaceChange(d.Properties)); err != nil {
		return nil, Outcome{}, err
	}
	k := c.Keyspace(d.Name)
	if k == nil {
		return skipOr(d.IfExists, c, keyspaceMissing(d.Name))
	}
	if err := checkStrategy(r.Guard, d.Properties); err != nil {
		return nil, Outcome{}, err
	}
	changed, warnings, err := k.Altered(d.Properties, d.Placement)
	if err != nil {
		return nil, Outcome{}, err
	}
	if err := checkFactors(r.Guard, changed); err != nil {
		return nil, Outcome{}, err
	}
	if changed.DurableWrites == k.DurableWrites && maps.Equal(changed.Replication, k.Replication) {
		return c, Outcome{Warnings: warnings}, nil
	}
	if schema.IsSystem(d.Name) {
		return nil, Outcome{}, expr.NotSupported("ALTER KEYSPACE of " + d.Name)
	}
	out := reported(schema.Updated, schema.TargetKeyspace, d.Name, "")
	out.Warnings = warnings
	return c.WithKeyspace(changed), out, nil
}
