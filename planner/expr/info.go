package expr

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// Info is what was found out about the terms of one statement.
type Info struct {
	Markers    []Receiver   // what each bind marker is for, by cql.Marker.Index
	Aggregates []*Aggregate // that are selected
	Cells      bool         // WRITETIME, MAXWRITETIME or TTL is selected

	facts       map[cql.Term]*facts
	passing     int            // above 0: the terms are of a run, which makes them anew each time: nothing is kept of them
	counted     int            // terms of runs that were passed
	firstColumn *schema.Column // that is selected
}

// facts are about one term. Literals and markers that stand for themselves have none: all about them is in their Expr.
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

// fitting is how well a term fits a type, or why it can stand nowhere.
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

// mark records what a marker is for and returns it as an expression.
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
