package expr

import (
	"errors"
	"fmt"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// list checks [a, b] for a list or a vector, which takes exactly as many elements as it has.
func (c *Checker) list(l *cql.ListLiteral, r Receiver) (Expr, error) {
	if v, ok := r.Type.(*types.Vector); ok {
		if n := l.Elements.Len(); n != v.Dim {
			return nil, cqlerr.Invalidf("Invalid vector literal for %s of type %s; expected %d elements, but given %d",
				r.Name, r.Type, v.Dim, n)
		}
		return c.elements("vector", r, &[2]role{{"value", l.Elements, v.Elem}})
	}
	t, ok := r.Type.(*types.List)
	if !ok {
		return nil, noList(r.Type)
	}
	return c.elements("list", r, &[2]role{{"value", l.Elements, t.Elem}})
}

// set checks {a, b} for a set, and {} also for a map.
func (c *Checker) set(l *cql.SetLiteral, r Receiver) (Expr, error) {
	if m, ok := r.Type.(*types.Map); ok && l.Elements.Len() == 0 {
		return &Constant{Of: m, Value: types.Value{Bytes: types.NewMap(m, nil, nil)}}, nil
	}
	t, ok := r.Type.(*types.Set)
	if !ok {
		return nil, cqlerr.Invalidf("Invalid set literal for %s of type %s", r.Name, r.Type)
	}
	return c.elements("set", r, &[2]role{{"value", l.Elements, t.Elem}})
}

// mapping checks {k: v} for a map.
func (c *Checker) mapping(l *cql.MapLiteral, r Receiver) (Expr, error) {
	t, ok := r.Type.(*types.Map)
	if !ok {
		return nil, cqlerr.Invalidf("Invalid map literal for %s of type %s", r.Name, r.Type)
	}
	return c.elements("map", r, &[2]role{{"key", l.Keys, t.Key}, {"value", l.Values, t.Value}})
}

// role is the role of some terms of a literal: its elements, or the keys or the values of a map.
type role struct {
	what  string
	terms cql.Terms
	of    types.Type
}

// receiver is the receiver of the terms.
func (as *role) receiver(whole Receiver) Receiver {
	if as.of == nil {
		return Receiver{}
	}
	return whole.Part(as.what+"("+whole.Name+")", as.of)
}

// elements checks the elements of a literal of that kind, or the keys and values of a map, once all of them are known
// to be for it. Bind markers are for the elements of vectors only.
func (c *Checker) elements(kind string, whole Receiver, roles *[2]role) (Expr, error) {
	first, second, name := roles[0].terms, roles[1].terms, whole.Name
	err := c.eachEntry(first, second, func(t, value cql.Term) error {
		err := c.checkElement(kind, name, &roles[0], t)
		if err == nil && value != nil {
			err = c.checkElement(kind, name, &roles[1], value)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	r, valueOf := roles[0].receiver(whole), roles[1].receiver(whole)
	if first.Long() {
		if e, err := c.pack(kind, whole, r, valueOf, first, second); e != nil || err != nil {
			return e, err
		}
	}
	l, n, at := composed(whole.Type), first.Len(), 0
	l.Parts = make([]Expr, n+second.Len())
	err = c.eachEntry(first, second, func(t, value cql.Term) (err error) {
		l.Parts[at], err = c.value(t, r)
		if err == nil && value != nil {
			l.Parts[n+at], err = c.value(value, valueOf)
		}
		if err != nil {
			return err
		}
		at++
		return checkNoMarker(kind, name, t, value)
	})
	if err != nil {
		return nil, err
	}
	return compose(l)
}

// checkElement refuses a term that is not for its place in a literal. One that is may still be refused when it is
// checked.
func (c *Checker) checkElement(kind, name string, as *role, t cql.Term) error {
	if fits, err := c.fits(t, as.of); fits || err != nil {
		return err
	}
	return cqlerr.Invalidf("Invalid %s literal for %s: %s %s is not of type %s", kind, name, as.what, c.Text(t), as.of)
}

// checkNoMarker refuses bind markers inside list, set and map literals.
func checkNoMarker(kind, name string, terms ...cql.Term) error {
	if kind != "vector" && HasMarker(terms...) {
		return cqlerr.Invalidf("Invalid %s literal for %s: bind variables are not supported inside collection "+
			"literals", kind, name)
	}
	return nil
}

// tuple checks (a, b) for a tuple; components left out at the end are null. For anything else (a) is a term
// in parentheses.
func (c *Checker) tuple(l *cql.TupleLiteral, r Receiver) (Expr, error) {
	elems, ok := components(r.Type)
	if !ok && len(l.Elements) == 1 {
		return c.value(l.Elements[0], r)
	}
	if !ok {
		return nil, cqlerr.Invalidf("Invalid tuple type literal for %s of type %s", r.Name, r.Type)
	}
	for i, e := range l.Elements {
		if i == len(elems) {
			return nil, cqlerr.Invalidf("Invalid tuple literal for %s: too many elements. Type %s expects %d but got %d",
				r.Name, r.Type, len(elems), len(l.Elements))
		}
		fits, err := c.fits(e, elems[i])
		switch {
		case err != nil:
			return nil, err
		case fits:
			continue
		}
		return nil, cqlerr.Invalidf("Invalid tuple literal for %s: component %d is not of type %s", r.Name, i, elems[i])
	}
	tuple := composed(r.Type)
	tuple.Parts = make([]Expr, len(l.Elements))
	for i, e := range l.Elements {
		var err error
		if tuple.Parts[i], err = c.value(e, r.Part(fmt.Sprintf("%s[%d]", r.Name, i), elems[i])); err != nil {
			return nil, err
		}
	}
	return compose(tuple)
}

// Constant is a value known when the statement is planned.
type Constant struct {
	Of       types.Type
	Value    types.Value
	Computed bool // by functions
}

// Type is the type that the receiver has.
func (c *Constant) Type() types.Type { return c.Of }

// Eval returns the value, which must not be changed.
func (c *Constant) Eval(*Context) (types.Value, error) { return c.Value, nil }

// String prints the value as a literal.
func (c *Constant) String() string {
	switch {
	case c.Value.Unset:
		return "unset"
	case c.Value.IsNull():
		return "null"
	}
	return c.Of.Format(c.Value.Bytes)
}

// Null is the constant null of a type.
func Null(t types.Type) *Constant { return &Constant{Of: t} }

// literal makes a constant of a literal, as the receiver's type reads it.
func (c *Checker) literal(l *cql.Literal, r Receiver) (Expr, error) {
	if l.Kind == cql.NullLiteral && r.Type == types.Counter {
		return nil, cqlerr.Invalidf("Invalid null value for counter increment/decrement")
	}
	if l.Kind == cql.NullLiteral {
		return Null(r.Type), nil
	}
	value, err := c.literalBytes(l, r)
	if err != nil {
		return nil, err
	}
	return &Constant{Of: r.Type, Value: types.Value{Bytes: value}}, nil
}

// literalBytes is the value of a literal that is not null, as the receiver's type reads it.
func (c *Checker) literalBytes(l *cql.Literal, r Receiver) ([]byte, error) {
	kind := types.LiteralKind(l.Kind)
	value, err := c.Clock.ParseLiteral(r.Type, kind, l.Text)
	if errors.Is(err, types.ErrKind) {
		return nil, cqlerr.Invalidf(`Invalid %s constant (%s) for "%s" of type %s`, kind, l.Text, r.Name, r.Type)
	}
	if err != nil {
		return nil, invalidValue(err)
	}
	return value, nil
}

// literalFits reports whether a type takes literals of that kind at all.
func literalFits(l *cql.Literal, t types.Type) bool {
	if l.Kind == cql.NullLiteral {
		return t != types.Counter
	}
	_, err := t.ParseLiteral(types.LiteralKind(l.Kind), l.Text)
	return !errors.Is(err, types.ErrKind)
}

// fold computes an expression that depends on nothing but constants. A call that fails is kept, and fails
// when it is run.
func fold(e Expr, parts []Expr) (Expr, error) {
	_, computed := e.(*Call)
	for _, p := range parts {
		c, ok := p.(*Constant)
		if !ok {
			return e, nil
		}
		computed = computed || c.Computed
	}
	v, err := e.Eval(&Context{})
	switch {
	case err != nil && computed:
		return e, nil
	case err != nil:
		return nil, err
	}
	return &Constant{Of: e.Type(), Value: v, Computed: computed}, nil
}
