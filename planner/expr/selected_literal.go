package expr

import (
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// selectedLiteral checks a literal of selectors. Its type is that of the first part that has one, else the expected
// type.
func (c *Checker) selectedLiteral(t cql.Term, expected types.Type) (Expr, error) {
	of := c.exactType(t)
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
		return nil, c.noType(t)
	}
	switch t := t.(type) {
	case *cql.ListLiteral:
		if elem := listElement(of); elem != nil {
			return c.parts(of, t.Elements.Parts, func(int) types.Type { return elem })
		}
	case *cql.SetLiteral:
		switch of := of.(type) {
		case *types.Map:
			return selectedParts(of, nil), nil
		case *types.Set:
			if of.Elem == types.Duration {
				return nil, ErrSetOfDurations(of.String())
			}
			return c.parts(of, t.Elements.Parts, func(int) types.Type { return of.Elem })
		}
	case *cql.TupleLiteral:
		if _, ok := of.(*types.Tuple); !ok && len(t.Elements) == 1 {
			return c.selector(t.Elements[0], expected)
		}
		if elems, ok := components(of); ok {
			return c.parts(of, t.Elements, func(i int) types.Type { return elems[i] })
		}
	case *cql.MapLiteral, *cql.UserTypeLiteral:
		switch of := of.(type) {
		case *types.UserType:
			return c.selectedFields(t, of)
		case *types.Map:
			return c.selectedMap(t, of)
		}
	}
	return nil, c.noType(t)
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

// parts checks parts of those types and makes a literal's value of them.
func (c *Checker) parts(of types.Type, terms []cql.Term, part func(i int) types.Type) (Expr, error) {
	parts := make([]Expr, len(terms))
	for i, t := range terms {
		var err error
		if parts[i], err = c.selector(t, part(i)); err != nil {
			return nil, err
		}
	}
	return selectedParts(of, parts), nil
}

// entries are the keys of a map and then its values.
func (c *Checker) entries(t cql.Term) []cql.Term {
	switch t := t.(type) {
	case *cql.MapLiteral:
		return slices.Concat(t.Keys.Parts, t.Values.Parts)
	case *cql.UserTypeLiteral:
		return slices.Concat(c.keyColumns(t), t.Values)
	}
	return nil
}

// selectedMap checks {key: value}.
func (c *Checker) selectedMap(t cql.Term, m *types.Map) (Expr, error) {
	if m.Key == types.Duration {
		return nil, ErrDurationKeys(m.String())
	}
	entries := c.entries(t)
	if err := c.resolveAll(entries); err != nil {
		return nil, err
	}
	return c.parts(m, entries, func(i int) types.Type {
		if i < len(entries)/2 {
			return m.Key
		}
		return m.Value
	})
}

// resolveParts resolves the parts of a map or a user type's value, once it is known which of the two it is.
func (c *Checker) resolveParts(t cql.Term, of types.Type) error {
	l, ok := t.(*cql.UserTypeLiteral)
	u, isUser := of.(*types.UserType)
	if !ok || !isUser {
		return c.resolveAll(c.entries(t))
	}
	c.of(l).fields = true
	for i, name := range l.Fields {
		if u.Field(name) < 0 {
			return unknownField(name, u)
		}
		if err := c.Resolve(l.Values[i]); err != nil {
			return err
		}
	}
	return nil
}

// selectedFields checks {field: value}; fields left out are null.
func (c *Checker) selectedFields(t cql.Term, u *types.UserType) (Expr, error) {
	l, ok := t.(*cql.UserTypeLiteral)
	if !ok {
		first := t.(*cql.MapLiteral).Keys.Parts[0]
		return nil, cqlerr.Invalidf("%s is not a valid field identifier of type %s ", c.Text(first), u.Name)
	}
	if err := c.resolveParts(l, u); err != nil {
		return nil, err
	}
	parts := make([]Expr, len(u.Fields))
	for i, f := range u.Fields {
		parts[i] = Null(f.Type)
	}
	for i, name := range l.Fields {
		at := u.Field(name)
		e, err := c.selector(l.Values[i], u.Fields[at].Type)
		if err != nil {
			return nil, err
		}
		parts[at] = e
	}
	return selectedParts(u, parts), nil
}
