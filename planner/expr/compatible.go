package expr

import (
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/types"
)

// CompatibleType is a type that a term may have where nothing around it tells one: its exact type, or that of what a
// literal looks like. It is nil if there is none.
func (b *Binder) CompatibleType(t cql.Term) types.Type {
	switch t := t.(type) {
	case *cql.Literal:
		switch t.Kind {
		case cql.NullLiteral:
			return nil
		case cql.HexLiteral:
			return types.TinyInt // which takes them, and comes before blob when Cassandra asks each type
		}
		return likelyType(t)
	case *cql.ListLiteral:
		if elem := b.commonType(t.Elements); elem != nil && b.Selected != nil {
			return &types.List{Elem: elem, Frozen: true}
		}
		return nil
	case *cql.SetLiteral:
		if elem := b.commonType(t.Elements); elem != nil {
			return &types.Set{Elem: elem, Frozen: true}
		}
		return nil
	case *cql.MapLiteral:
		key, value := b.commonType(t.Keys), b.commonType(t.Values)
		if key != nil && value != nil && b.Selected == nil {
			return &types.Map{Key: key, Value: value, Frozen: true}
		}
		return nil
	case *cql.TupleLiteral:
		if b.Selected != nil && len(t.Elements) > 1 {
			return b.compatibleTuple(t)
		}
	}
	return b.ExactType(t)
}

// commonType is the compatible type of one of the terms that takes the values of all others.
func (b *Binder) commonType(terms cql.Terms) types.Type {
	var known []types.Type
	_ = b.Each(terms, func(t cql.Term) error { // which does not fail
		of := b.CompatibleType(t)
		if of == nil {
			return nil
		}
		of = types.Freeze(of)
		if !slices.ContainsFunc(known, func(other types.Type) bool { return types.Equal(of, other) }) {
			known = append(known, of)
		}
		return nil
	})
	for _, to := range known {
		all := true
		for _, from := range known {
			all = all && functions.TypeFit(to, from) != functions.NoFit
		}
		if all {
			return to
		}
	}
	return nil
}

// compatibleTuple is the type of a tuple all of whose components have a compatible one.
func (b *Binder) compatibleTuple(l *cql.TupleLiteral) types.Type {
	elems := make([]types.Type, len(l.Elements))
	for i, e := range l.Elements {
		of := b.CompatibleType(e)
		if of == nil {
			return nil
		}
		elems[i] = types.Freeze(of)
	}
	return &types.Tuple{Elems: elems}
}
