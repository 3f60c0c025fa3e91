package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
)

// Make plans a statement, or refuses it with the error a client gets.
func Make(stmt cql.Statement, env Env) (*Prepared, error) {
	p := &planning{
		env: env, scope: scope.New(env.Catalog, env.Keyspace), out: &Prepared{Keyspace: env.Keyspace},
		clock: types.Clock{Now: env.Now},
	}
	p.scope.Serve(&p.binder)
	p.binder.Clock, p.binder.Step = &p.clock, env.Step
	plan, err := p.statement(stmt)
	if err != nil {
		return nil, err
	}
	if err := p.checkMarkers(); err != nil {
		return nil, err
	}
	p.out.Plan, p.out.Uses, p.out.Timed = plan, p.scope.Uses, p.clock.Asked
	p.describeMarkers()
	return p.out, nil
}

// planning is the work on one statement.
type planning struct {
	env    Env
	scope  *scope.Scope
	out    *Prepared
	binder expr.Binder
	clock  types.Clock
}

// statement plans a statement of any kind.
func (p *planning) statement(stmt cql.Statement) (Plan, error) {
	switch s := stmt.(type) {
	case *cql.Select:
		return p.selectRows(s)
	case *cql.Insert:
		return modifies(p, s, p.insert)
	case *cql.Update:
		return modifies(p, s, p.update)
	case *cql.Delete:
		return modifies(p, s, p.delete)
	case *cql.Batch:
		return modifies(p, s, p.batch)
	case *cql.Truncate:
		return p.truncate(s)
	case *cql.Use:
		return p.use(s), nil
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
		return nil, p.grant(s.Permissions, s.Resource)
	case *cql.RevokePermissions:
		return nil, p.grant(s.Permissions, s.Resource)
	case *cql.ListPermissions:
		return nil, p.list(s.Resource)
	case *cql.CreateRole, *cql.AlterRole, *cql.DropRole, *cql.CreateUser, *cql.AlterUser, *cql.DropUser, *cql.AddIdentity,
		*cql.DropIdentity, *cql.GrantRole, *cql.RevokeRole, *cql.ListRoles, *cql.ListUsers:
		return nil, p.role(s)
	}
	return nil, cqlerr.Serverf("no plan for a %T", stmt)
}

// modifies plans a statement that may stand in a batch.
func modifies[S cql.Statement, P Plan](p *planning, s S, plan func(S) (P, error)) (Plan, error) {
	p.out.Modifies = true
	return asPlan(plan(s))
}

// defines plans a statement that changes the schema. Cassandra counts all of them as unqualified.
func defines[S cql.Statement, P Plan](p *planning, s S, plan func(S) (P, error)) (Plan, error) {
	p.out.Definition, p.scope.Qualified = true, false
	return asPlan(plan(s))
}

// asPlan keeps a nil plan of some kind from becoming a Plan that is not nil.
func asPlan[P Plan](plan P, err error) (Plan, error) {
	if err != nil {
		return nil, err
	}
	return plan, nil
}
