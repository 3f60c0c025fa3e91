package planner

import (
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
)

// cast plans CAST, which does nothing to a value that has the type already. Cassandra does not see that a descending column
// has it, and looks for a function.
func (s *selecting) cast(c *cql.Cast) (expr.Expr, error) {
	e, err := s.expression(c.Value, nil)
	if err != nil {
		return nil, err
	}
	to, err := s.binder.NamedType(&c.Type)
	if err != nil {
		return nil, err
	}
	if types.Equal(to, e.Type()) && !s.descends(c.Value) {
		s.plain[c] = true
		return e, nil
	}
	if !functions.CanCast(c.Type.String()) {
		return nil, s.cannotCast(c)
	}
	name, args := "system."+functions.CastName(c.Type.String()), []functions.Arg{{Type: e.Type()}}
	f, err := functions.ResolveArgs(name, args, nil)
	if err != nil {
		return nil, err
	}
	return expr.NewCall(f, []expr.Expr{e}), nil
}

// cannotCast names the first column that is selected anywhere, as Cassandra does; where there is none that fails.
func (s *selecting) cannotCast(c *cql.Cast) error {
	name := s.name(c.Value)
	if s.firstColumn != nil {
		name = s.firstColumn.Name
	}
	return cqlerr.Invalidf("%s cannot be cast to %s", name, c.Type)
}

// hint plans (type) value.
func (s *selecting) hint(h *cql.TypeHint) (expr.Expr, error) {
	t, err := s.binder.NamedType(&h.Type)
	if err != nil {
		return nil, err
	}
	t = types.Freeze(t)
	if err := s.prepareParts(h.Value, t); err != nil {
		return nil, err
	}
	if s.binder.Fit(h.Value, t) == functions.NoFit {
		return nil, cqlerr.Invalidf("Cannot assign value %s to %s of type %s", s.name(h), s.name(h), t)
	}
	e, err := s.expression(h.Value, t)
	if err != nil {
		return nil, err
	}
	return &expr.Hinted{Of: t, Value: e}, nil
}

// prepareEntries resolves what stands in a map.
func (s *selecting) prepareEntries(t cql.Term) error {
	keys, values := mapEntries(t)
	if err := s.prepareAll(keys); err != nil {
		return err
	}
	return s.prepareAll(values)
}

// mapEntries are the keys and values of a map literal.
func mapEntries(t cql.Term) (keys, values []cql.Term) {
	switch t := t.(type) {
	case *cql.MapLiteral:
		return t.Keys.Parts, t.Values.Parts
	case *cql.UserTypeLiteral:
		return expr.FieldColumns(t), t.Values
	}
	return nil, nil
}

// composed plans a literal of selected parts. Its type is that of the first part that has one, else what is expected.
func (s *selecting) composed(t cql.Term, expected types.Type) (expr.Expr, error) {
	of := s.binder.ExactType(t)
	list, isList := t.(*cql.ListLiteral)
	if v, ok := expected.(*types.Vector); ok && isList {
		if of = v; v.Dim != list.Elements.Len() {
			return nil, cqlerr.Invalidf("Unable to create a vector selector of type %s from %d elements", v, list.Elements.Len())
		}
	}
	if of == nil {
		of = expected
	}
	if of == nil {
		return nil, s.noType(t)
	}
	switch t := t.(type) {
	case *cql.ListLiteral:
		if elem := listElement(of); elem != nil {
			return s.compose(of, t.Elements.Parts, func(int) types.Type { return elem })
		}
	case *cql.SetLiteral:
		if m, ok := of.(*types.Map); ok {
			return expr.NewComposed(m, nil), nil
		}
		if set, ok := of.(*types.Set); ok && set.Elem == types.Duration {
			return nil, cqlerr.Invalidf("Durations are not allowed inside sets: %s", of)
		} else if ok {
			return s.compose(of, t.Elements.Parts, func(int) types.Type { return set.Elem })
		}
	case *cql.TupleLiteral:
		if _, ok := of.(*types.Tuple); !ok && len(t.Elements) == 1 {
			return s.expression(t.Elements[0], expected)
		}
		if elems, ok := expr.Components(of); ok {
			return s.compose(of, t.Elements, func(i int) types.Type { return elems[i] })
		}
	case *cql.MapLiteral, *cql.UserTypeLiteral:
		return s.mapOf(t, of)
	}
	return nil, s.noType(t)
}

// mapOf plans {key: value}.
func (s *selecting) mapOf(t cql.Term, of types.Type) (expr.Expr, error) {
	if u, ok := of.(*types.UserType); ok {
		return s.userType(t, u)
	}
	m, ok := of.(*types.Map)
	if !ok {
		return nil, s.noType(t)
	}
	if m.Key == types.Duration {
		return nil, cqlerr.Invalidf("Durations are not allowed as map keys: %s", m)
	}
	if err := s.prepareEntries(t); err != nil {
		return nil, err
	}
	keys, values := mapEntries(t)
	return s.compose(of, append(append([]cql.Term(nil), keys...), values...), func(i int) types.Type {
		if i < len(keys) {
			return m.Key
		}
		return m.Value
	})
}

// compose plans parts of those types and what is made of them.
func (s *selecting) compose(of types.Type, terms []cql.Term, part func(i int) types.Type) (expr.Expr, error) {
	parts := make([]expr.Expr, len(terms))
	for i, t := range terms {
		var err error
		if parts[i], err = s.expression(t, part(i)); err != nil {
			return nil, err
		}
	}
	return expr.NewComposed(of, parts), nil
}

// element plans x[key].
func (s *selecting) element(t *cql.Element) (expr.Expr, error) {
	of, err := s.expression(t.Of, nil)
	if err != nil {
		return nil, err
	}
	switch of.Type().(type) {
	case *types.List, *types.Set, *types.Map:
	default:
		return nil, cqlerr.Invalidf("Invalid element selection: %s is of type %s is not a collection", s.name(t.Of), of.Type())
	}
	key, err := s.key(t.Of, of.Type(), "Element", t.Key)
	if err != nil {
		return nil, err
	}
	return &expr.Element{Of: of, Key: key}, nil
}

// slice plans x[from..to].
func (s *selecting) slice(t *cql.Slice, expected types.Type) (expr.Expr, error) {
	of, err := s.expression(t.Of, expected)
	if err != nil {
		return nil, err
	}
	switch of.Type().(type) {
	case *types.List, *types.Set, *types.Map:
	default:
		return nil, cqlerr.Invalidf("Invalid slice selection: %s of type %s is not a collection", s.name(t.Of), of.Type())
	}
	e := &expr.Slice{Of: of}
	if e.From, err = s.key(t.Of, of.Type(), "Slice", t.From); err != nil {
		return nil, err
	}
	if e.To, err = s.key(t.Of, of.Type(), "Slice", t.To); err != nil {
		return nil, err
	}
	return e, nil
}

// key binds a key of a map or an element of a set. It is a term as outside of SELECT lists; nil if there is none.
func (s *selecting) key(of cql.Term, t types.Type, what string, key cql.Term) (*expr.Key, error) {
	if _, ok := t.(*types.List); ok {
		return nil, cqlerr.Invalidf("%s selection is only allowed on sets and maps, but %s is a list", what, s.name(of))
	}
	if key == nil {
		return nil, nil
	}
	kind := "value"
	if _, ok := t.(*types.Map); ok {
		kind = "key"
	}
	s.binder.Selected = nil
	defer func() { s.binder.Selected = s.typeOf }()
	e, err := s.binder.Bind(key, expr.Receiver{
		Keyspace: s.table.Keyspace, Table: s.table.Name, Name: kind + "(" + s.name(of) + ")", Type: expr.KeyType(t),
	})
	if err != nil {
		return nil, err
	}
	return &expr.Key{Expr: e, What: strings.ToLower(what), Of: s.name(of)}, nil
}

// listElement is the type of the elements of a list or vector; nil for other types.
func listElement(t types.Type) types.Type {
	switch t := t.(type) {
	case *types.List:
		return t.Elem
	case *types.Vector:
		return t.Elem
	}
	return nil
}
