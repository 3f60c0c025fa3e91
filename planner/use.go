package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
)

// Use sets the session's keyspace.
type Use struct{ Keyspace string }

// use plans USE. A prepared USE counts as unqualified, as Cassandra has it.
func (p *planning) use(s *cql.Use) (Plan, error) {
	p.out.Qualified = false
	if p.env.Catalog.Keyspace(s.Keyspace) == nil {
		return nil, cqlerr.Invalidf("Keyspace '%s' does not exist", s.Keyspace)
	}
	return &Use{Keyspace: s.Keyspace}, nil
}
