package scope

import (
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// Uses is what a statement was found to use.
type Uses struct {
	Qualified bool // no unqualified name was used: the plan does not depend on the keyspace in use
	Tables    []*schema.Table
	Types     []*types.UserType // which the statement names
	Calls     []Callables       // what the functions that it calls were chosen from, besides native ones
}

// Callables are the users' functions and aggregates of a keyspace.
type Callables struct {
	Keyspace   string
	Functions  []*schema.Function
	Aggregates []*schema.Aggregate
}

// MeansTheSame reports whether the types that the statement names are as they were, and calls mean the same functions.
// Cassandra's prepared statements keep theirs, so only plans of texts are asked.
func (u *Uses) MeansTheSame(current *schema.Catalog) bool {
	for _, old := range u.Types {
		if current.Type(old.Keyspace, old.Name) != old {
			return false
		}
	}
	return !slices.ContainsFunc(u.Calls, func(c Callables) bool { return !c.hold(current) })
}

// hold reports whether the keyspace still has just these.
func (c *Callables) hold(current *schema.Catalog) bool {
	k := current.Keyspace(c.Keyspace)
	return k != nil && slices.Equal(k.Functions, c.Functions) && slices.Equal(k.Aggregates, c.Aggregates)
}

// useTable notes a table.
func (u *Uses) useTable(t *schema.Table) {
	if !slices.Contains(u.Tables, t) {
		u.Tables = append(u.Tables, t)
	}
}

// useTypes notes the user types inside t.
func (u *Uses) useTypes(k *schema.Keyspace, t types.Type) {
	for _, name := range types.UserTypeNames(nil, t) {
		if found := k.Types[name]; found != nil && !slices.Contains(u.Types, found) {
			u.Types = append(u.Types, found)
		}
	}
}

// useFunctions notes that functions of a keyspace were looked for.
func (u *Uses) useFunctions(k *schema.Keyspace) {
	if !slices.ContainsFunc(u.Calls, func(c Callables) bool { return c.Keyspace == k.Name }) {
		u.Calls = append(u.Calls, Callables{Keyspace: k.Name, Functions: k.Functions, Aggregates: k.Aggregates})
	}
}
