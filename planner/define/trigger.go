package define

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// CreateTrigger is refused for one reason or another: there are no classes for triggers.
type CreateTrigger struct {
	Keyspace  string
	Statement *cql.CreateTrigger
}

// createTrigger plans CREATE TRIGGER.
func (p *planning) createTrigger(s *cql.CreateTrigger) (*CreateTrigger, error) {
	keyspace, err := p.scope.Keyspace(s.Table)
	if err != nil {
		return nil, err
	}
	return &CreateTrigger{Keyspace: keyspace, Statement: s}, nil
}

// Apply refuses the trigger.
func (d *CreateTrigger) Apply(c *schema.Catalog, _ [16]byte) (*schema.Catalog, Outcome, error) {
	if err := schema.CheckKeyspaceName(d.Keyspace); err != nil {
		return nil, Outcome{}, err
	}
	t, err := findTable(c, d.Keyspace, d.Statement.Table.Name)
	if err != nil {
		return nil, Outcome{}, err
	}
	if t.View != nil {
		return nil, Outcome{}, cqlerr.Invalidf("Cannot CREATE TRIGGER for a materialized view")
	}
	return nil, Outcome{}, cqlerr.Invalidf("Trigger class '%s' couldn't be loaded", d.Statement.Class)
}

// DropTrigger finds no trigger.
type DropTrigger struct {
	Keyspace  string
	Statement *cql.DropTrigger
}

// dropTrigger plans DROP TRIGGER.
func (p *planning) dropTrigger(s *cql.DropTrigger) (*DropTrigger, error) {
	keyspace, err := p.scope.Keyspace(s.Table)
	if err != nil {
		return nil, err
	}
	return &DropTrigger{Keyspace: keyspace, Statement: s}, nil
}

// Apply does nothing, if that is enough.
func (d *DropTrigger) Apply(c *schema.Catalog, _ [16]byte) (*schema.Catalog, Outcome, error) {
	if err := schema.CheckKeyspaceName(d.Keyspace); err != nil {
		return nil, Outcome{}, err
	}
	if s := d.Statement; !s.IfExists {
		return nil, Outcome{}, cqlerr.Invalidf("Trigger '%s' on '%s.%s' doesn't exist", s.Name, d.Keyspace, s.Table.Name)
	}
	return c, Outcome{}, nil
}
