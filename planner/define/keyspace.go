package define

import (
	"cmp"
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/guardrail"
)

// CreateKeyspace defines a keyspace.
type CreateKeyspace struct {
	Name        string
	IfNotExists bool
	Properties  []schema.Property
	Placement   schema.Placement
	guard       *guardrail.Check
}

// createKeyspace plans CREATE KEYSPACE.
func (p *planning) createKeyspace(s *cql.CreateKeyspace) (*CreateKeyspace, error) {
	return &CreateKeyspace{
		Name: s.Name, IfNotExists: s.IfNotExists, Properties: properties(s.Properties), Placement: p.placement(),
	}, nil
}

// placement is what replication strategies need to know.
func (p *planning) placement() schema.Placement {
	return schema.Placement{
		Datacenter: cmp.Or(p.env.Datacenter, "datacenter1"), Factor: p.env.ReplicationFactor, Nodes: p.env.Nodes,
	}
}

// Under is the definition for a client that is subject to guardrails.
func (d *CreateKeyspace) Under(guard *guardrail.Check) Definition {
	guarded := *d
	guarded.guard = guard
	return &guarded
}

// Apply adds the keyspace.
func (d *CreateKeyspace) Apply(c *schema.Catalog, _ [16]byte) (*schema.Catalog, Outcome, error) {
	if err := d.guard.Keyspace(c, d.Name); err != nil {
		return nil, Outcome{}, err
	}
	if err := schema.CheckKeyspaceName(d.Name); err != nil {
		return nil, Outcome{}, err
	}
	if err := schema.CheckKeyspaceProperties(d.Properties); err != nil {
		return nil, Outcome{}, err
	}
	if err := checkStrategy(d.guard, d.Properties); err != nil {
		return nil, Outcome{}, err
	}
	if c.Keyspace(d.Name) != nil {
		if d.IfNotExists {
			return c, Outcome{}, nil
		}
		return nil, Outcome{}, cqlerr.KeyspaceExists(d.Name)
	}
	k, warnings, err := schema.NewKeyspace(d.Name, d.Properties, d.Placement)
	if err != nil {
		return nil, Outcome{}, err
	}
	if err := checkFactors(d.guard, k); err != nil {
		return nil, Outcome{}, err
	}
	out := told(schema.Created, schema.TargetKeyspace, d.Name, "")
	out.Warnings = warnings
	return c.WithKeyspace(k), out, nil
}

// DropKeyspace removes a keyspace and all in it.
type DropKeyspace struct {
	Name     string
	IfExists bool
	guard    *guardrail.Check
}

// dropKeyspace plans DROP KEYSPACE.
func (p *planning) dropKeyspace(s *cql.DropKeyspace) (*DropKeyspace, error) {
	return &DropKeyspace{Name: s.Name, IfExists: s.IfExists}, nil
}

// Under is the definition for a client that is subject to guardrails.
func (d *DropKeyspace) Under(guard *guardrail.Check) Definition {
	guarded := *d
	guarded.guard = guard
	return &guarded
}

// Apply removes the keyspace. The events tell of its aggregates and functions first, then of its views, of its tables,
// the oldest before the others, and of its types.
func (d *DropKeyspace) Apply(c *schema.Catalog, _ [16]byte) (*schema.Catalog, Outcome, error) {
	if err := checkSchemaChange("DROP", d.Name, "<keyspace "+d.Name+">"); err != nil {
		return nil, Outcome{}, err
	}
	if err := d.guard.DropKeyspace(); err != nil {
		return nil, Outcome{}, err
	}
	k := c.Keyspace(d.Name)
	if k == nil {
		if d.IfExists {
			return c, Outcome{}, nil
		}
		return nil, Outcome{}, keyspaceMissing(d.Name)
	}
	out := Outcome{Answer: schema.Change{Kind: schema.Dropped, Target: schema.TargetKeyspace, Keyspace: d.Name}}
	out.Events = droppedFunctions(k)
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
