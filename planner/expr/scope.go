package expr

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// Scope is where terms stand. It never changes while they are checked.
type Scope struct {
	Names    Names         // finds types and users' functions; nil: there are none
	Keyspace string        // of the types and functions that are named without one
	Table    *schema.Table // whose key token() is of, and whose columns are selected; nil: none
	Selects  bool          // the terms are selectors, else values
	Clock    *types.Clock  // tells constants the time; nil: there is none
	Step     func() error  // called often while long literals are checked: an error ends that; nil: nobody waits
}

// Names finds what the names in terms mean. The keyspace is that of names without one.
type Names interface {
	// TypeOf finds the type of a type hint or CAST.
	TypeOf(keyspace string, name cql.TypeName) (types.Type, error)

	// FunctionsOf finds the users' functions and aggregates that a call may mean.
	FunctionsOf(keyspace string, name cql.QualifiedName) []*functions.Function
}

// About puts the terms of a scope in a statement about a table.
func (s *Scope) About(t *schema.Table) { s.Keyspace, s.Table = t.Keyspace, t }

// users are the users' functions of a name.
func (s *Scope) users(name cql.QualifiedName) []*functions.Function {
	if s.Names == nil {
		return nil
	}
	return s.Names.FunctionsOf(s.Keyspace, name)
}

// column resolves a column that is selected.
func (s *Scope) column(ref *cql.ColumnRef) (*schema.Column, error) {
	if c := s.Table.Visible(ref.Name); c != nil {
		return c, nil
	}
	return nil, cqlerr.Invalidf("Undefined column name %s in table %s.%s", quote.Name(ref.Name), quote.Name(s.Table.Keyspace),
		quote.Name(s.Table.Name))
}

// descends reports whether a term is a column in descending order. In Cassandra its type is another one.
func (s *Scope) descends(t cql.Term) bool {
	ref, ok := t.(*cql.ColumnRef)
	if !ok {
		return false
	}
	c := s.Table.Visible(ref.Name)
	return c != nil && c.Desc
}
