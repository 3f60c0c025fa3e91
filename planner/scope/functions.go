package scope

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// TypeOf finds the type of a type hint or CAST in a term.
func (s *Scope) TypeOf(keyspace string, n cql.TypeName) (types.Type, error) {
	k := s.Catalog.Keyspace(keyspace)
	t, err := Type(k, n)
	if err == nil {
		s.useTypes(k, t)
	}
	return t, err
}

// FunctionsOf finds the users' functions and aggregates that a call may mean.
func (s *Scope) FunctionsOf(keyspace string, name cql.QualifiedName) []*functions.Function {
	if name.Keyspace != "" {
		keyspace = name.Keyspace
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
	quoted := quote.Name(k.Name) + "." + quote.Name(name)
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
