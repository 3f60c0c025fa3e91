package define

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// Truncate removes all rows of a table.
type Truncate struct {
	target
	Table   *schema.Table // nil if the statement is refused
	Refused error         // returned to clients that have the permission
}

// truncate plans TRUNCATE. If clients log in, Cassandra checks the permission before the table.
func (p *planning) truncate(s *cql.Truncate) (Plan, error) {
	object, err := p.target("truncate", s.Table)
	if err != nil {
		return nil, err
	}
	t, err := p.truncated(s)
	if err != nil && !(p.env.Logins && p.env.Run) {
		return nil, err
	}
	return &Truncate{object, t, err}, nil
}

// truncated returns the table of a TRUNCATE.
func (p *planning) truncated(s *cql.Truncate) (*schema.Table, error) {
	t, err := p.scope.Table(s.Table)
	if err != nil {
		return nil, err
	}
	if t.View != nil {
		return nil, cqlerr.Invalidf("Cannot TRUNCATE materialized view directly; must truncate base table instead")
	}
	if t.Virtual && !t.Writable {
		return nil, cqlerr.Invalidf("Truncation is not supported by table %s.%s", t.Keyspace, t.Name)
	}
	if schema.IsServers(t) && !t.Writable {
		return nil, RowsNotModifiable(t)
	}
	return t, nil
}

// CreateTrigger is always refused: there are no trigger classes.
type CreateTrigger struct {
	target
	Statement *cql.CreateTrigger
}

// createTrigger plans CREATE TRIGGER.
func (p *planning) createTrigger(s *cql.CreateTrigger) (*CreateTrigger, error) {
	t, err := p.target("create trigger "+s.Name+" on", s.Table)
	return &CreateTrigger{t, s}, err
}

// Apply refuses the trigger.
func (d *CreateTrigger) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	if err := schema.CheckKeyspaceName(d.Keyspace); err != nil {
		return nil, Outcome{}, err
	}
	t, err := findTable(c, d.Keyspace, d.Name)
	if err != nil {
		return nil, Outcome{}, err
	}
	if t.View != nil {
		return nil, Outcome{}, cqlerr.Invalidf("Cannot CREATE TRIGGER for a materialized view")
	}
	return nil, Outcome{}, cqlerr.Invalidf("Trigger class '%s' couldn't be loaded", d.Statement.Class)
}

// DropTrigger removes nothing: there are no triggers.
type DropTrigger struct {
	target
	Statement *cql.DropTrigger
}

// dropTrigger plans DROP TRIGGER.
func (p *planning) dropTrigger(s *cql.DropTrigger) (*DropTrigger, error) {
	t, err := p.target("drop trigger "+s.Name+" on", s.Table)
	return &DropTrigger{t, s}, err
}

// Apply accepts only IF EXISTS.
func (d *DropTrigger) Apply(c *schema.Catalog, r Run) (*schema.Catalog, Outcome, error) {
	if err := schema.CheckKeyspaceName(d.Keyspace); err != nil {
		return nil, Outcome{}, err
	}
	if s := d.Statement; !s.IfExists {
		return nil, Outcome{}, cqlerr.Invalidf("Trigger '%s' on '%s.%s' doesn't exist", s.Name, d.Keyspace, s.Table.Name)
	}
	return c, Outcome{}, nil
}
