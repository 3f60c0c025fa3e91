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

	// NamedType finds the type of a type hint.
	NamedType func(cql.TypeName) (types.Type, error)

	// Selected tells the types of the terms that only a SELECT list has, and of calls in it; nil outside of one.
	Selected func(cql.Term) (t types.Type, ok bool)

	fits    map[fitKey]functions.Fit
	results map[cql.Term]types.Type
	quiet   int // above 0: nobody hears what is wrong with a call
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
	case *cql.TypeHint:
		return b.hint(t, r)
	case *cql.Cast:
		return b.apply(t, []cql.Term{t.Value}, r)
	case *cql.Arithmetic:
		return b.apply(t, Operands(t), r)
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
	case *cql.TypeHint, *cql.Cast, *cql.Arithmetic:
		return b.Fit(t, r.Type) != functions.NoFit
	}
	return !judgedWhole(t, r.Type) || b.binds(t, r)
}

// judgedWhole reports whether a term is a literal of parts, which fits a type if all of it can be bound.
func judgedWhole(t cql.Term, to types.Type) bool {
	switch t.(type) {
	case *cql.ListLiteral:
		switch to.(type) {
		case *types.List, *types.Vector:
			return true
		}
	case *cql.SetLiteral, *cql.MapLiteral, *cql.TupleLiteral:
		return true
	case *cql.UserTypeLiteral:
		_, user := to.(*types.UserType)
		return !user
	}
	return false
}

// part binds a term that stands inside a literal; fits is false if the term is not for r's type. What is judged whole
// is bound once: bound twice on each level, the innermost of n literals would be bound 2^n times.
func (b *Binder) part(t cql.Term, r Receiver) (e Expr, fits bool, err error) {
	if judgedWhole(t, r.Type) {
		e, err = b.Bind(t, r)
		return e, err == nil, nil
	}
	if !b.assignable(t, r) {
		return nil, false, nil
	}
	e, err = b.Bind(t, r)
	return e, true, err
}

// binds reports whether a literal can be bound, and collects no markers.
func (b *Binder) binds(t cql.Term, r Receiver) bool {
	trial := Binder{Table: b.Table, NamedType: b.NamedType}
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
		case *cql.TypeHint:
			if hasMarker(t.Value) {
				return true
			}
		case *cql.Cast:
			if hasMarker(t.Value) {
				return true
			}
		case *cql.Arithmetic:
			if hasMarker(Operands(t)...) {
				return true
			}
		}
	}
	return false
}
