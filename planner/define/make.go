package define

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/planner/scope"
)

// Plan is what a statement of this package will do: a Definition, a Describe, a Truncate or an Authorization.
type Plan interface {
	plan()
	String() string // the plan in words; golden files compare it
}

func (*Truncate) plan()        {}
func (*CreateKeyspace) plan()  {}
func (*AlterKeyspace) plan()   {}
func (*DropKeyspace) plan()    {}
func (*CreateTable) plan()     {}
func (*AlterTable) plan()      {}
func (*DropTable) plan()       {}
func (*CreateType) plan()      {}
func (*AlterType) plan()       {}
func (*DropType) plan()        {}
func (*CreateView) plan()      {}
func (*AlterView) plan()       {}
func (*DropView) plan()        {}
func (*CreateFunction) plan()  {}
func (*DropFunction) plan()    {}
func (*CreateAggregate) plan() {}
func (*DropAggregate) plan()   {}
func (*CreateTrigger) plan()   {}
func (*DropTrigger) plan()     {}
func (*CreateIndex) plan()     {}
func (*DropIndex) plan()       {}
func (*Describe) plan()        {}
func (*Authorization) plan()   {}

// Env is what a statement is planned against, besides the names in it.
type Env struct {
	Text string // the statement as it came, for error texts that repeat it
	Run  bool   // it is run at once: Cassandra asks for permissions before it looks at mistakes then

	// Logins says that clients log in. Without them nobody may see or change roles.
	Logins bool

	Masks bool // columns may be masked

	// Datacenter is the node's, for replication strategies that name it; "" is datacenter1.
	Datacenter string

	// Nodes is how many nodes there are in each datacenter; nil: one.
	Nodes map[string]int

	ReplicationFactor int // of keyspaces that name none; 0 is 1

	Guard *guardrail.Check // what the client is subject to; nil: no guardrails
}

// Make plans a statement, or refuses it with the error a client gets.
func Make(stmt cql.Statement, s *scope.Scope, env Env) (Plan, error) {
	p := &planning{scope: s, env: env}
	return p.statement(stmt)
}

// planning is the work on one statement.
type planning struct {
	scope *scope.Scope
	env   Env
}

// statement plans a statement of any kind that package planner does not plan itself.
func (p *planning) statement(stmt cql.Statement) (Plan, error) {
	switch s := stmt.(type) {
	case *cql.Truncate:
		return p.truncate(s)
	case *cql.CreateKeyspace:
		return defines(p, s, p.createKeyspace)
	case *cql.AlterKeyspace:
		return defines(p, s, p.alterKeyspace)
	case *cql.DropKeyspace:
		return defines(p, s, p.dropKeyspace)
	case *cql.CreateTable:
		return defines(p, s, p.createTable)
	case *cql.AlterTable:
		return defines(p, s, p.alterTable)
	case *cql.DropTable:
		return defines(p, s, p.dropTable)
	case *cql.CreateType:
		return defines(p, s, p.createType)
	case *cql.AlterType:
		return defines(p, s, p.alterType)
	case *cql.DropType:
		return defines(p, s, p.dropType)
	case *cql.CreateView:
		return defines(p, s, p.createView)
	case *cql.AlterView:
		return defines(p, s, p.alterView)
	case *cql.DropView:
		return defines(p, s, p.dropView)
	case *cql.CreateFunction:
		return defines(p, s, p.createFunction)
	case *cql.DropFunction:
		return defines(p, s, p.dropFunction)
	case *cql.CreateAggregate:
		return defines(p, s, p.createAggregate)
	case *cql.DropAggregate:
		return defines(p, s, p.dropAggregate)
	case *cql.CreateTrigger:
		return defines(p, s, p.createTrigger)
	case *cql.DropTrigger:
		return defines(p, s, p.dropTrigger)
	case *cql.CreateIndex:
		return defines(p, s, p.createIndex)
	case *cql.DropIndex:
		return defines(p, s, p.dropIndex)
	case *cql.Describe:
		return p.describe(s)
	case *cql.GrantPermissions:
		return p.authorized(s, s.Permissions, &s.Resource)
	case *cql.RevokePermissions:
		return p.authorized(s, s.Permissions, &s.Resource)
	case *cql.ListPermissions:
		return p.authorized(s, s.Permissions, s.Resource)
	case *cql.CreateRole, *cql.AlterRole, *cql.DropRole, *cql.CreateUser, *cql.AlterUser, *cql.DropUser, *cql.AddIdentity,
		*cql.DropIdentity, *cql.GrantRole, *cql.RevokeRole, *cql.ListRoles, *cql.ListUsers:
		return p.authorized(s, nil, nil)
	}
	return nil, cqlerr.Serverf("no plan for a %T", stmt)
}

// defines plans a statement that changes the schema. Cassandra counts all of them as unqualified.
func defines[S cql.Statement, D Definition](p *planning, s S, plan func(S) (D, error)) (Plan, error) {
	p.scope.Qualified = false
	d, err := plan(s)
	if err != nil {
		return nil, err
	}
	return d, nil
}
