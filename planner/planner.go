package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/define"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
)

// Make plans a statement, or refuses it with the error a client gets.
func Make(stmt cql.Statement, env Env) (*Prepared, error) {
	p := newPlanning(env)
	plan, err := p.statement(stmt)
	if err != nil {
		return nil, err
	}
	if err := p.checkMarkers(); err != nil {
		return nil, err
	}
	p.out.Plan, p.out.Uses, p.out.Timed = plan, p.scope.Uses, p.clock.Asked
	p.out.Called = p.called()
	p.describeMarkers()
	return p.out, nil
}

// newPlanning begins the work on a statement.
func newPlanning(env Env) *planning {
	p := &planning{
		env: env, scope: scope.New(env.Catalog, env.Keyspace), out: &Prepared{},
		clock: types.Clock{Now: env.Now},
	}
	p.terms = expr.Checker{Scope: expr.Scope{Names: p.scope, Clock: &p.clock, Step: env.Step}, Info: &p.info}
	return p
}

// planning is the work on one statement.
type planning struct {
	env   Env
	scope *scope.Scope
	out   *Prepared
	terms expr.Checker
	info  expr.Info
	clock types.Clock

	// masked makes the expression that a masked column shows; nil: columns show their values.
	masked func(*schema.Column) (expr.Expr, error)
}

// statement plans a statement of any kind.
func (p *planning) statement(stmt cql.Statement) (Plan, error) {
	switch s := stmt.(type) {
	case *cql.Select:
		return p.selectAnything(s)
	case *cql.Insert:
		return modifies(p, s, p.insert)
	case *cql.Update:
		return modifies(p, s, p.update)
	case *cql.Delete:
		return modifies(p, s, p.delete)
	case *cql.Batch:
		return modifies(p, s, p.batch)
	case *cql.Use:
		return p.use(s), nil
	}
	return p.define(stmt)
}

// modifies plans a statement that is allowed in a batch.
func modifies[S cql.Statement, P Plan](p *planning, s S, plan func(S) (P, error)) (Plan, error) {
	p.out.Modifies = true
	return asPlan(plan(s))
}

// define plans a statement that has nothing to do with single rows.
func (p *planning) define(stmt cql.Statement) (Plan, error) {
	plan, err := define.Make(stmt, p.scope, define.Env{
		Text: p.env.Text, Run: p.env.Run, Logins: p.env.Logins, Masks: p.env.Masks, Guard: p.env.Guard,
		Datacenter: p.env.Datacenter, Nodes: p.env.Nodes, ReplicationFactor: p.env.ReplicationFactor,
	})
	if err != nil {
		return nil, err
	}
	_, p.out.Definition = plan.(define.Definition)
	return plan, nil
}

// asPlan keeps a nil plan of some kind from becoming a Plan that is not nil.
func asPlan[P Plan](plan P, err error) (Plan, error) {
	if err != nil {
		return nil, err
	}
	return plan, nil
}

// checkMarkers refuses a marker that is for nothing: that of the first of two TTLs, for example.
func (p *planning) checkMarkers() error {
	for i, m := range p.info.Markers {
		if m.Type == nil {
			return cqlerr.Invalidf("Bind marker %d is for a value that the statement does not use", i+1)
		}
	}
	return nil
}

// describeMarkers describes each bind marker, and finds the markers of the partition key.
func (p *planning) describeMarkers() {
	markers := p.info.Markers
	p.out.Markers = make([]Marker, len(markers))
	for i, m := range markers {
		p.out.Markers[i] = Marker{Keyspace: m.Keyspace, Table: m.Table, Name: m.Name, Type: m.Type}
	}
	p.out.KeyMarkers = p.keyMarkers()
}

// keyMarkers has the index of the last marker that is bound to each partition key column itself, unless
// one has none or the markers are not all of one table.
func (p *planning) keyMarkers() []int {
	markers := p.info.Markers
	if len(markers) == 0 || len(p.scope.Tables) == 0 {
		return nil
	}
	key := p.scope.Tables[0].PartitionKey
	indexes := make([]int, len(key))
	for i := range indexes {
		indexes[i] = -1
	}
	for i, m := range markers {
		if m.Keyspace != markers[0].Keyspace || m.Table != markers[0].Table {
			return nil
		}
		if m.Column != nil && m.Column.Kind == schema.PartitionKey {
			indexes[m.Column.Position] = i
		}
	}
	for _, i := range indexes {
		if i < 0 {
			return nil
		}
	}
	return indexes
}
