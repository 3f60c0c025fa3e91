package expr

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// Binder gives terms their types and collects the bind markers it meets.
type Binder struct {
	Table   *schema.Table // that token() is about; nil where there is none
	Markers []Receiver    // by cql.Marker.Index
}

// Bind makes an expression of a term whose value is for r.
func (b *Binder) Bind(t cql.Term, r Receiver) (Expr, error) {
	switch t := t.(type) {
	case *cql.Literal:
		return literal(t, r)
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
	case *cql.Cast:
		return nil, NotSupported("CAST")
	case *cql.TypeHint:
		return nil, NotSupported("A type hint")
	case *cql.Arithmetic:
		return nil, NotSupported("Arithmetic")
	}
	return nil, NotSupported(t.String())
}

// assignable reports whether t may stand where a value of r's type is asked for. Errors inside t that
// are not about its kind are left to Bind.
func (b *Binder) assignable(t cql.Term, r Receiver) bool {
	switch t := t.(type) {
	case *cql.Literal:
		return literalFits(t, r.Type)
	case *cql.Call:
		f, err := b.resolve(t, r.Type)
		return err != nil || types.ValueCompatible(r.Type, f.Returns)
	case *cql.ListLiteral:
		switch r.Type.(type) {
		case *types.List, *types.Vector:
			return b.binds(t, r)
		}
		return true
	case *cql.SetLiteral, *cql.MapLiteral, *cql.TupleLiteral:
		return b.binds(t, r)
	}
	return true
}

// binds reports whether a literal can be bound, and collects no markers.
func (b *Binder) binds(t cql.Term, r Receiver) bool {
	trial := Binder{Table: b.Table}
	_, err := trial.Bind(t, r)
	return err == nil
}

// hasMarker reports whether a bind marker stands anywhere in the terms.
func hasMarker(terms ...cql.Term) bool {
	for _, t := range terms {
		switch t := t.(type) {
		case *cql.Marker:
			return true
		case *cql.ListLiteral:
			if hasMarker(t.Elements...) {
				return true
			}
		case *cql.SetLiteral:
			if hasMarker(t.Elements...) {
				return true
			}
		case *cql.MapLiteral:
			if hasMarker(t.Keys...) || hasMarker(t.Values...) {
				return true
			}
		case *cql.TupleLiteral:
			if hasMarker(t.Elements...) {
				return true
			}
		case *cql.UserTypeLiteral:
			if hasMarker(t.Values...) {
				return true
			}
		case *cql.Call:
			if hasMarker(t.Args...) {
				return true
			}
		}
	}
	return false
}
