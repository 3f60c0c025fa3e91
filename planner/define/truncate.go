package define

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// Truncate removes all rows of a table.
type Truncate struct {
	Keyspace, Name string
	Table          *schema.Table // nil if the statement is refused
	Refused        error         // told to those who have the permission
}

// truncate plans TRUNCATE. Where clients log in Cassandra asks for the permission before it looks at the table.
func (p *planning) truncate(s *cql.Truncate) (Plan, error) {
	keyspace, err := p.scope.Keyspace(s.Table)
	if err != nil {
		return nil, err
	}
	t, err := p.truncated(s)
	if err != nil && !(p.env.Logins && p.env.Run) {
		return nil, err
	}
	return &Truncate{Keyspace: keyspace, Name: s.Table.Name, Table: t, Refused: err}, nil
}

// truncated is the table of a TRUNCATE.
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
