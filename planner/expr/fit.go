package expr

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/types"
)

// fitKey is what a Binder remembers the answer of Fit for: terms may stand in many calls that each ask anew.
type fitKey struct {
	term cql.Term
	to   types.Type
}

// fitting is that answer, with what is wrong so that nothing else is said.
type fitting struct {
	functions.Fit
	misplaced error
}

// Fit is how well a term fits values of a type: the choice of functions and the refusals of literals rest on it. Of a
// call that cannot be resolved Bind says what is wrong, so it fits here.
func (b *Binder) Fit(t cql.Term, to types.Type) functions.Fit {
	if b.passing > 0 {
		return b.fit(t, to)
	}
	key := fitKey{t, to}
	known, ok := b.fits[key]
	if !ok {
		before := b.misplaced
		b.misplaced = nil
		known.Fit = b.fit(t, to)
		known.misplaced, b.misplaced = b.misplaced, before
		if b.fits == nil {
			b.fits = map[fitKey]fitting{}
		}
		b.fits[key] = known
	}
	if b.misplaced == nil {
		b.misplaced = known.misplaced
	}
	return known.Fit
}

// fit is Fit, worked out.
func (b *Binder) fit(t cql.Term, to types.Type) functions.Fit {
	if b.Selected != nil {
		if of, ok := b.Selected(t); ok && of == nil {
			return functions.NoFit
		} else if ok {
			return functions.TypeFit(to, of)
		}
	}
	switch t := t.(type) {
	case *cql.Literal:
		return fitLiteral(t, to)
	case *cql.TypeHint:
		of, err := b.hinted(t)
		if err != nil {
			return functions.WeakFit
		}
		return fitHint(to, of)
	case *cql.ListLiteral:
		return b.fitList(t, to)
	case *cql.SetLiteral:
		if _, isMap := to.(*types.Map); isMap && t.Elements.Len() == 0 {
			return functions.WeakFit
		}
		set, ok := to.(*types.Set)
		return b.fitAll(ok, t.Elements, func() types.Type { return set.Elem })
	case *cql.MapLiteral:
		b.checkEntries(t)
		m, ok := to.(*types.Map)
		return min(
			b.fitAll(ok, t.Keys, func() types.Type { return m.Key }),
			b.fitAll(ok, t.Values, func() types.Type { return m.Value }),
		)
	case *cql.UserTypeLiteral:
		return b.fitFields(t, to)
	case *cql.TupleLiteral:
		return b.fitTuple(t, to)
	case *cql.Call, *cql.Cast, *cql.Arithmetic:
		f, err := b.quietly(t, to)
		if err != nil || functions.IsFamily(f.Name) {
			return functions.WeakFit
		}
		return functions.TypeFit(to, f.Returns)
	}
	return functions.WeakFit
}

// fitLiteral is Fit of a literal: best for what it looks like.
func fitLiteral(l *cql.Literal, to types.Type) functions.Fit {
	switch {
	case l.Kind == cql.NullLiteral && to == types.Counter:
		return functions.NoFit
	case l.Kind == cql.NullLiteral:
		return functions.WeakFit
	case !literalFits(l, to):
		return functions.NoFit
	case to == likelyType(l):
		return functions.ExactFit
	}
	return functions.WeakFit
}

// fitAll is the worst fit among terms. Without any, all types are equally good.
func (b *Binder) fitAll(ok bool, terms cql.Terms, to func() types.Type) functions.Fit {
	if !ok {
		return functions.NoFit
	}
	if terms.Len() == 0 {
		return functions.WeakFit
	}
	worst := functions.ExactFit
	of := to()
	_ = b.Each(terms, func(t cql.Term) error { // which does not fail
		worst = min(worst, b.Fit(t, of))
		return nil
	})
	return worst
}

// noList is the complaint about a list where none can be. Nothing else is said of a statement that has one, wherever it
// stands.
func noList(t types.Type) error {
	return cqlerr.Invalidf("Unexpected receiver type '%s'; only list and vector are expected", t)
}

// fitList is Fit of a list or vector. Vectors that are too long or too short are a matter of Bind in a SELECT list.
func (b *Binder) fitList(l *cql.ListLiteral, to types.Type) functions.Fit {
	if v, ok := to.(*types.Vector); ok {
		if b.Selected != nil {
			return b.fitAll(true, l.Elements, func() types.Type { return types.Freeze(v.Elem) })
		}
		return b.fitAll(l.Elements.Len() == v.Dim, l.Elements, func() types.Type { return v.Elem })
	}
	list, ok := to.(*types.List)
	if !ok && b.Selected == nil && b.misplaced == nil {
		b.misplaced = noList(to)
	}
	return b.fitAll(ok, l.Elements, func() types.Type { return list.Elem })
}

// fitTuple is Fit of a tuple, or of a term in parentheses.
func (b *Binder) fitTuple(l *cql.TupleLiteral, to types.Type) functions.Fit {
	elems, ok := Components(to)
	if _, user := to.(*types.UserType); user && b.Selected != nil && len(l.Elements) == 1 {
		return b.Fit(l.Elements[0], to)
	}
	switch {
	case !ok && len(l.Elements) == 1:
		return b.Fit(l.Elements[0], to)
	case !ok || len(l.Elements) > len(elems):
		return functions.NoFit
	}
	for i, e := range l.Elements {
		if b.Fit(e, elems[i]) == functions.NoFit {
			return functions.NoFit
		}
	}
	return functions.WeakFit
}

// checkEntries looks into a map in a SELECT list.
func (b *Binder) checkEntries(t cql.Term) {
	if b.Selected != nil && b.misplaced == nil {
		b.misplaced = b.Entries(t)
	}
}

// ExactType is the type that a term has wherever it stands, or nil if that depends.
func (b *Binder) ExactType(t cql.Term) types.Type {
	if b.Selected != nil {
		if of, ok := b.Selected(t); ok {
			return of
		}
	}
	switch t := t.(type) {
	case *cql.TypeHint:
		if of, err := b.hinted(t); err == nil {
			return of
		}
	case *cql.ListLiteral:
		if elem := b.firstType(t.Elements); elem != nil && b.Selected != nil {
			return &types.List{Elem: elem, Frozen: true}
		}
	case *cql.SetLiteral:
		if elem := b.firstType(t.Elements); elem != nil {
			return &types.Set{Elem: elem, Frozen: true}
		}
	case *cql.MapLiteral:
		key, value := b.firstType(t.Keys), b.firstType(t.Values)
		if b.Selected == nil && key != nil && value != nil {
			return &types.Map{Key: key, Value: value, Frozen: true}
		}
	case *cql.TupleLiteral:
		return b.tupleType(t)
	case *cql.Call, *cql.Cast, *cql.Arithmetic:
		return b.resultType(t)
	}
	return nil
}

// resultType is the type that a call returns if it is resolved without a receiver, or nil. It is remembered.
func (b *Binder) resultType(t cql.Term) types.Type {
	if of, known := b.results[t]; known {
		return of
	}
	var of types.Type
	if f, err := b.quietly(t, nil); err == nil {
		of = f.Returns
	}
	if b.results == nil {
		b.results = map[cql.Term]types.Type{}
	}
	b.results[t] = of
	return of
}

// firstType is the exact type of the first term that has one. In a run none has.
func (b *Binder) firstType(terms cql.Terms) types.Type {
	for _, t := range terms.Parts {
		if of := b.ExactType(t); of != nil {
			return types.Freeze(of)
		}
	}
	return nil
}

// tupleType is the exact type of a tuple all of whose components have one. In a SELECT list a single one is a term in
// parentheses.
func (b *Binder) tupleType(l *cql.TupleLiteral) types.Type {
	if len(l.Elements) == 1 && b.Selected != nil {
		return nil
	}
	elems := make([]types.Type, len(l.Elements))
	for i, e := range l.Elements {
		of := b.ExactType(e)
		if of == nil {
			return nil
		}
		elems[i] = types.Freeze(of)
	}
	return &types.Tuple{Elems: elems}
}
