package expr

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// Binder gives terms their types and collects the bind markers it meets.
type Binder struct {
	Table   *schema.Table // that token() is about; nil where there is none
	Markers []Receiver    // by cql.Marker.Index

	// NamedType finds the type of a type hint, and writes the keyspace before the names of user types in it.
	NamedType func(*cql.TypeName) (types.Type, error)

	// Users finds the users' functions of a name; nil: there are none.
	Users func(cql.QualifiedName) []*functions.Function

	// Selected tells the types of the terms that only a SELECT list has, and of calls in it; nil outside of one.
	Selected func(cql.Term) (t types.Type, ok bool)

	// Clock tells constants the time; nil: there is none.
	Clock *types.Clock

	// Entries tells what is wrong in a map of a SELECT list.
	Entries func(cql.Term) error

	// Step is called often while long literals are bound: an error ends it; nil: nobody waits.
	Step func() error

	fits      map[fitKey]fitting
	results   map[cql.Term]types.Type
	bound     int   // terms of runs that were passed
	passing   int   // above 0: nothing is remembered of terms
	quiet     int   // above 0: nobody hears what is wrong with a call
	misplaced error // of a list that stands where none can be, or of a map with something wrong in it
}

// Bind makes an expression of a term whose value is for r.
func (b *Binder) Bind(t cql.Term, r Receiver) (Expr, error) {
	switch t := t.(type) {
	case *cql.Literal:
		return b.literal(t, r)
	case *cql.Marker:
		return b.mark(t, r), nil
	case *cql.ListLiteral:
		return b.list(t, r)
	case *cql.SetLiteral:
		return b.set(t, r)
	case *cql.MapLiteral:
		return b.mapping(t, r)
	case *cql.TupleLiteral:
		return b.tuple(t, r)
	case *cql.UserTypeLiteral:
		return b.userType(t, r)
	case *cql.Call:
		return b.call(t, r)
	case *cql.TypeHint:
		return b.hint(t, r)
	case *cql.Cast:
		return b.apply(t, []cql.Term{t.Value}, r)
	case *cql.Arithmetic:
		return b.apply(t, Operands(t), r)
	}
	return nil, NotSupported(t.String())
}

// HasMarker reports whether a bind marker stands anywhere in the terms.
func HasMarker(terms ...cql.Term) bool {
	for _, t := range terms {
		switch t := t.(type) {
		case *cql.Marker:
			return true
		case *cql.Run:
			if t.Kind == cql.RunMarkers {
				return true
			}
		case *cql.ListLiteral:
			if HasMarker(t.Elements.Parts...) {
				return true
			}
		case *cql.SetLiteral:
			if HasMarker(t.Elements.Parts...) {
				return true
			}
		case *cql.MapLiteral:
			if HasMarker(t.Keys.Parts...) || HasMarker(t.Values.Parts...) {
				return true
			}
		case *cql.TupleLiteral:
			if HasMarker(t.Elements...) {
				return true
			}
		case *cql.UserTypeLiteral:
			if HasMarker(t.Values...) {
				return true
			}
		case *cql.Call:
			if HasMarker(t.Args...) {
				return true
			}
		case *cql.TypeHint:
			if HasMarker(t.Value) {
				return true
			}
		case *cql.Cast:
			if HasMarker(t.Value) {
				return true
			}
		case *cql.Arithmetic:
			if HasMarker(Operands(t)...) {
				return true
			}
		}
	}
	return false
}
