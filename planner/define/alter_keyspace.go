package define

import (
	"maps"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/guardrail"
)

// AlterKeyspace changes the options of a keyspace.
type AlterKeyspace struct {
	Name       string
	IfExists   bool
	Properties []schema.Property
	Placement  schema.Placement
	guard      *guardrail.Check
}

// alterKeyspace plans ALTER KEYSPACE.
func (p *planning) alterKeyspace(s *cql.AlterKeyspace) (*AlterKeyspace, error) {
	return &AlterKeyspace{
		Name: s.Name, IfExists: s.IfExists, Properties: properties(s.Properties), Placement: p.placement(),
	}, nil
}

// Under is the definition for a client that is subject to guardrails.
func (d *AlterKeyspace) Under(guard *guardrail.Check) Definition {
	guarded := *d
	guarded.guard = guard
	return &guarded
}

// Apply changes the keyspace.
func (d *AlterKeyspace) Apply(c *schema.Catalog, _ [16]byte) (*schema.Catalog, Outcome, error) {
	if schema.IsLocal(strings.ToLower(d.Name)) {
		return nil, Outcome{}, NotModifiable(d.Name)
	}
	if err := schema.CheckKeyspaceName(d.Name); err != nil {
		return nil, Outcome{}, err
	}
	if err := schema.CheckKeyspaceChange(d.Properties); err != nil {
		return nil, Outcome{}, err
	}
	k := c.Keyspace(d.Name)
	if k == nil {
		if d.IfExists {
			return c, Outcome{}, nil
		}
		return nil, Outcome{}, keyspaceMissing(d.Name)
	}
	if err := checkStrategy(d.guard, d.Properties); err != nil {
		return nil, Outcome{}, err
	}
	changed, warnings, err := k.Altered(d.Properties, d.Placement)
	if err != nil {
		return nil, Outcome{}, err
	}
	if err := checkFactors(d.guard, changed); err != nil {
		return nil, Outcome{}, err
	}
	if changed.DurableWrites == k.DurableWrites && maps.Equal(changed.Replication, k.Replication) {
		return c, Outcome{Warnings: warnings}, nil
	}
	if schema.IsSystem(d.Name) {
		return nil, Outcome{}, expr.NotSupported("ALTER KEYSPACE of " + d.Name)
	}
	out := told(schema.Updated, schema.TargetKeyspace, d.Name, "")
	out.Warnings = warnings
	return c.WithKeyspace(changed), out, nil
}
