package planner

import (
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/schema"
)

// userFunctions are the users' functions and aggregates that a call may mean: without a keyspace those of the table's.
func (p *planning) userFunctions(name cql.QualifiedName) []*functions.Function {
	keyspace := name.Keyspace
	if keyspace == "" && p.binder.Table != nil {
		keyspace = p.binder.Table.Keyspace
	}
	k := p.env.Catalog.Keyspace(keyspace)
	if k == nil {
		return nil
	}
	same := func(c Callables) bool { return c.Keyspace == k.Name }
	if !slices.ContainsFunc(p.out.Calls, same) {
		p.out.Calls = append(p.out.Calls, Callables{Keyspace: k.Name, Functions: k.Functions, Aggregates: k.Aggregates})
	}
	return callables(k, name.Name)
}

// callables are the functions and aggregates of a name, as overload choice sees them.
func callables(k *schema.Keyspace, name string) (all []*functions.Function) {
	quoted := cql.Quote(k.Name) + "." + cql.Quote(name)
	for _, f := range k.FunctionsNamed(name) {
		all = append(all, &functions.Function{
			Name: name, Args: f.Args, Returns: f.Returns, User: &functions.User{Keyspace: k.Name, Quoted: quoted},
		})
	}
	for _, a := range k.AggregatesNamed(name) {
		all = append(all, &functions.Function{
			Name: name, Args: a.Args, Returns: a.Returns,
			User: &functions.User{Keyspace: k.Name, Quoted: quoted, Aggregate: true},
		})
	}
	return all
}
