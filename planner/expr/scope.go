package expr

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// Scope is the surroundings of terms. It never changes while they are checked.
type Scope struct {
	Names    Names         // finds types and users' functions; nil: there are none
	Keyspace string        // of the types and functions that are named without one
	Table    *schema.Table // whose key token() is of, and whose columns are selected; nil: none
	Selects  bool          // the terms are selectors, else values
	Clock    *types.Clock  // tells constants the time; nil: there is none
	Step     func() error  // called often while long literals are checked: an error ends that; nil: nothing bounds it
}

// Names resolves the names in terms. The keyspace is for names without one.
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

// Info has the findings about the terms of one statement.
type Info struct {
	Markers    []Receiver            // of the bind markers, by cql.Marker.Index
	Aggregates []*Aggregate          // that are selected
	Called     []*functions.Function // of users
	Cells      bool                  // WRITETIME, MAXWRITETIME or TTL is selected

	facts       map[cql.Term]*facts
	passing     int            // above 0: the terms are of a run, which makes them anew each time: nothing is kept of them
	counted     int            // terms of runs that were passed
	firstColumn *schema.Column // that is selected
}

// facts are about one term. Literals and markers have none: their Expr has everything.
type facts struct {
	function *functions.Function // of a call, operator or CAST
	exact    known               // ExactType
	likely   known               // CompatibleType
	fits     []fitting           // Fit
	columns  []cql.Term          // of {a: b} as a map: its keys
	keyspace string              // of a hint whose type was found: texts show it in front of names of user types
	fields   bool                // of {a: b}: it is a user type's value, and no map
	same     bool                // of CAST: the value has the type already
}

// known is a type that was looked for. It may be that there is none.
type known struct {
	types.Type
	asked bool
}

// fitting is how well a term fits a type, or why it is valid nowhere.
type fitting struct {
	to  types.Type
	fit functions.Fit
	err error
}

// of are the facts about a term.
func (i *Info) of(t cql.Term) *facts {
	if i.passing > 0 {
		return &facts{}
	}
	f := i.facts[t]
	if f == nil {
		if i.facts == nil {
			i.facts = map[cql.Term]*facts{}
		}
		f = &facts{}
		i.facts[t] = f
	}
	return f
}

// mark records the receiver of a marker and returns the marker as an expression.
func (i *Info) mark(m *cql.Marker, r Receiver) *Marker {
	for len(i.Markers) <= m.Index {
		i.Markers = append(i.Markers, Receiver{})
	}
	if m.Name != "" {
		r.Name = m.Name
	}
	i.Markers[m.Index] = r
	return &Marker{Index: m.Index, Of: r.Type}
}

// Function is the function of a call or operator that is resolved; nil: the term is none, or count(*).
func (i *Info) Function(t cql.Term) *functions.Function { return i.of(t).function }
