package expr

import (
	"fmt"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/types"
)

// Composed is a value made of the values of its parts: a collection, tuple or vector.
type Composed struct {
	Of    types.Type
	Parts []Expr // of a map: key, value, key, value; of a user type: each of its fields
	make  func(parts [][]byte) []byte
	null  string // the complaint about a null part; "" if parts may be null

	nullValues bool // the second half of the parts may be null
}

// Type is the collection's type.
func (c *Composed) Type() types.Type { return c.Of }

// Eval computes the parts and puts them together.
func (c *Composed) Eval(x *Context) (types.Value, error) {
	parts := make([][]byte, len(c.Parts))
	for i, p := range c.Parts {
		v, err := p.Eval(x)
		if err != nil {
			return types.Value{}, err
		}
		if v.Unset {
			return types.Value{}, c.unset(i)
		}
		if v.Bytes == nil && c.null != "" && !(c.nullValues && i >= len(c.Parts)/2) {
			return types.Value{}, cqlerr.Invalidf("%s", c.null)
		}
		parts[i] = v.Bytes
	}
	return types.Value{Bytes: c.make(parts)}, nil
}

// unset is the complaint about a part that is bound as not set.
func (c *Composed) unset(i int) error {
	if t, ok := c.Of.(*types.UserType); ok {
		return cqlerr.Invalidf("Invalid unset value for field '%s' of user defined type %s", t.Fields[i].Name, t.Name)
	}
	return cqlerr.Invalidf("Invalid unset value for tuple field number %d", i)
}

func (c *Composed) String() string {
	parts := make([]string, len(c.Parts))
	for i, p := range c.Parts {
		parts[i] = p.String()
	}
	return fmt.Sprintf("%s(%s)", c.Of, strings.Join(parts, ", "))
}

const nullInCollection = "null is not supported inside collections"

// list binds [a, b] for a list or a vector.
func (b *Binder) list(l *cql.ListLiteral, r Receiver) (Expr, error) {
	if v, ok := r.Type.(*types.Vector); ok {
		return b.vector(l, r, v)
	}
	t, ok := r.Type.(*types.List)
	if !ok {
		return nil, noList(r.Type)
	}
	parts, err := b.elements("list", l.Elements, r, t.Elem)
	if err != nil {
		return nil, err
	}
	return compose(&Composed{Of: t, Parts: parts, make: types.NewList, null: nullInCollection})
}

// set binds {a, b} for a set, and {} also for a map.
func (b *Binder) set(l *cql.SetLiteral, r Receiver) (Expr, error) {
	if m, ok := r.Type.(*types.Map); ok && len(l.Elements) == 0 {
		return &Constant{Of: m, Value: types.Value{Bytes: types.NewMap(m, nil, nil)}}, nil
	}
	t, ok := r.Type.(*types.Set)
	if !ok {
		return nil, cqlerr.Invalidf("Invalid set literal for %s of type %s", r.Name, r.Type)
	}
	parts, err := b.elements("set", l.Elements, r, t.Elem)
	if err != nil {
		return nil, err
	}
	return compose(&Composed{Of: t, Parts: parts, null: nullInCollection, make: func(e [][]byte) []byte {
		return types.NewSet(t, e)
	}})
}

// mapping binds {k: v} for a map.
func (b *Binder) mapping(l *cql.MapLiteral, r Receiver) (Expr, error) {
	t, ok := r.Type.(*types.Map)
	if !ok {
		return nil, cqlerr.Invalidf("Invalid map literal for %s of type %s", r.Name, r.Type)
	}
	key, value := r.Part("key("+r.Name+")", t.Key), r.Part("value("+r.Name+")", t.Value)
	for i, k := range l.Keys {
		if err := b.checkElement("map", "key", k, r, t.Key); err != nil {
			return nil, err
		}
		if err := b.checkElement("map", "value", l.Values[i], r, t.Value); err != nil {
			return nil, err
		}
	}
	parts := make([]Expr, 2*len(l.Keys))
	for i, k := range l.Keys {
		var err error
		if parts[i], err = b.Bind(k, key); err != nil {
			return nil, err
		}
		if parts[len(l.Keys)+i], err = b.Bind(l.Values[i], value); err != nil {
			return nil, err
		}
		if err := checkNoMarker("map", r, k, l.Values[i]); err != nil {
			return nil, err
		}
	}
	return compose(&Composed{Of: t, Parts: parts, null: nullInCollection, make: func(e [][]byte) []byte {
		return types.NewMap(t, e[:len(e)/2], e[len(e)/2:])
	}})
}

// vector binds [a, b] for a vector: it takes exactly as many elements as the vector has, markers too.
func (b *Binder) vector(l *cql.ListLiteral, r Receiver, t *types.Vector) (Expr, error) {
	if len(l.Elements) != t.Dim {
		return nil, cqlerr.Invalidf("Invalid vector literal for %s of type %s; expected %d elements, but given %d",
			r.Name, r.Type, t.Dim, len(l.Elements))
	}
	parts, err := b.elements("vector", l.Elements, r, t.Elem)
	if err != nil {
		return nil, err
	}
	return compose(&Composed{
		Of: t, Parts: parts, null: "null is not supported inside vectors",
		make: func(e [][]byte) []byte { return types.NewVector(t, e) },
	})
}

// tuple binds (a, b) for a tuple; components left out at the end are null. For anything else (a) is a term
// in parentheses.
func (b *Binder) tuple(l *cql.TupleLiteral, r Receiver) (Expr, error) {
	elems, ok := Components(r.Type)
	if !ok && len(l.Elements) == 1 {
		return b.Bind(l.Elements[0], r)
	}
	if !ok {
		return nil, cqlerr.Invalidf("Invalid tuple type literal for %s of type %s", r.Name, r.Type)
	}
	for i, e := range l.Elements {
		if i == len(elems) {
			return nil, cqlerr.Invalidf("Invalid tuple literal for %s: too many elements. Type %s expects %d but got %d",
				r.Name, r.Type, len(elems), len(l.Elements))
		}
		fit := b.Fit(e, elems[i])
		switch {
		case b.misplaced != nil:
			return nil, b.misplaced
		case fit != functions.NoFit:
			continue
		}
		return nil, cqlerr.Invalidf("Invalid tuple literal for %s: component %d is not of type %s", r.Name, i, elems[i])
	}
	parts := make([]Expr, len(l.Elements))
	for i, e := range l.Elements {
		var err error
		if parts[i], err = b.Bind(e, r.Part(fmt.Sprintf("%s[%d]", r.Name, i), elems[i])); err != nil {
			return nil, err
		}
	}
	return compose(&Composed{Of: r.Type, Parts: parts, make: types.NewTuple})
}

// checkNoMarker refuses bind markers inside list, set and map literals.
func checkNoMarker(kind string, r Receiver, terms ...cql.Term) error {
	if HasMarker(terms...) {
		return cqlerr.Invalidf("Invalid %s literal for %s: bind variables are not supported inside collection "+
			"literals", kind, r.Name)
	}
	return nil
}

// checkElement refuses a term that is not for the elements of a literal of that kind. One that is may still be refused
// when it is bound.
func (b *Binder) checkElement(kind, what string, t cql.Term, whole Receiver, elem types.Type) error {
	fit := b.Fit(t, elem)
	switch {
	case b.misplaced != nil:
		return b.misplaced
	case fit != functions.NoFit:
		return nil
	}
	return cqlerr.Invalidf("Invalid %s literal for %s: %s %s is not of type %s", kind, whole.Name, what, Text(t), elem)
}

// elements binds the elements of a literal of that kind, once all of them are known to be for it.
func (b *Binder) elements(kind string, terms []cql.Term, whole Receiver, elem types.Type) ([]Expr, error) {
	for _, t := range terms {
		if err := b.checkElement(kind, "value", t, whole, elem); err != nil {
			return nil, err
		}
	}
	r := whole.Part("value("+whole.Name+")", elem)
	parts := make([]Expr, len(terms))
	for i, t := range terms {
		var err error
		if parts[i], err = b.Bind(t, r); err != nil {
			return nil, err
		}
		if kind == "vector" {
			continue
		}
		if err := checkNoMarker(kind, whole, t); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// compose folds a composed value whose parts are constants.
func compose(c *Composed) (Expr, error) { return fold(c, c.Parts) }

// NewComposed is a list, set, map, tuple, vector or value of a user type of selected parts, of a map keys and then values.
func NewComposed(t types.Type, parts []Expr) Expr {
	c := &Composed{Of: t, Parts: parts}
	switch t := t.(type) {
	case *types.List:
		c.make = types.NewList
	case *types.Set:
		c.make, c.null = func(e [][]byte) []byte { return types.NewSet(t, e) }, nullInCollection
	case *types.Map:
		c.null, c.nullValues = nullInCollection, true
		c.make = func(e [][]byte) []byte { return types.NewMap(t, e[:len(e)/2], e[len(e)/2:]) }
	case *types.Vector:
		c.make, c.null = func(e [][]byte) []byte { return types.NewVector(t, e) }, "null is not supported inside vectors"
	default:
		c.make = types.NewTuple
	}
	if e, err := compose(c); err == nil {
		return e
	}
	return c // it fails when there are rows
}
