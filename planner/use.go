package planner

import "github.com/cqld/cqld/cql"

// Use sets the session's keyspace.
type Use struct{ Keyspace string }

// use plans USE, also of a keyspace that is not there: whether it is shows when the statement runs. A prepared
// USE counts as unqualified, as Cassandra has it.
func (p *planning) use(s *cql.Use) Plan {
	p.scope.Qualified = false
	return &Use{Keyspace: s.Keyspace}
}
