package scope

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
)

// Serve lets a binder ask the scope for the types and functions in terms. Their keyspace is that of the binder's table.
func (s *Scope) Serve(b *expr.Binder) {
	b.NamedType = func(n *cql.TypeName) (types.Type, error) { return s.hintedType(b.Table, n) }
	b.Users = func(name cql.QualifiedName) []*functions.Function { return s.userFunctions(b.Table, name) }
}

// hintedType resolves the type of a hint, which is about the keyspace of the table.
func (s *Scope) hintedType(about *schema.Table, n *cql.TypeName) (types.Type, error) {
	k := s.Catalog.Keyspace(about.Keyspace)
	t, err := Type(k, *n)
	if err == nil {
		expr.Qualify(n, k.Name)
		s.useTypes(k, t)
	}
	return t, err
}

// userFunctions are the users' functions and aggregates that a call may mean: without a keyspace those of the table's.
func (s *Scope) userFunctions(about *schema.Table, name cql.QualifiedName) []*functions.Function {
	keyspace := name.Keyspace
	if keyspace == "" && about != nil {
		keyspace = about.Keyspace
	}
	k := s.Catalog.Keyspace(keyspace)
	if k == nil {
		return nil
	}
	s.useFunctions(k)
	return Functions(k, name.Name)
}

// Functions are the functions and aggregates of a name, as overload choice sees them.
func Functions(k *schema.Keyspace, name string) (all []*functions.Function) {
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
