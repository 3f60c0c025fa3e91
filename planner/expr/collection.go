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

// String prints the parts in the brackets of their type.
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
	return b.elements("list", &Composed{Of: t, make: types.NewList, null: nullInCollection}, l.Elements, r, t.Elem)
}

// set binds {a, b} for a set, and {} also for a map.
func (b *Binder) set(l *cql.SetLiteral, r Receiver) (Expr, error) {
	if m, ok := r.Type.(*types.Map); ok && l.Elements.Len() == 0 {
		return &Constant{Of: m, Value: types.Value{Bytes: types.NewMap(m, nil, nil)}}, nil
	}
	t, ok := r.Type.(*types.Set)
	if !ok {
		return nil, cqlerr.Invalidf("Invalid set literal for %s of type %s", r.Name, r.Type)
	}
	return b.elements("set", &Composed{Of: t, null: nullInCollection, make: func(e [][]byte) []byte {
		return types.NewSet(t, e)
	}}, l.Elements, r, t.Elem)
}

// mapping binds {k: v} for a map.
func (b *Binder) mapping(l *cql.MapLiteral, r Receiver) (Expr, error) {
	t, ok := r.Type.(*types.Map)
	if !ok {
		return nil, cqlerr.Invalidf("Invalid map literal for %s of type %s", r.Name, r.Type)
	}
	key, value := r.Part("key("+r.Name+")", t.Key), r.Part("value("+r.Name+")", t.Value)
	err := b.eachEntry(l, func(k, v cql.Term) error {
		if err := b.checkElement("map", "key", k, r, t.Key); err != nil {
			return err
		}
		return b.checkElement("map", "value", v, r, t.Value)
	})
	if err != nil {
		return nil, err
	}
	c := &Composed{Of: t, null: nullInCollection, make: func(e [][]byte) []byte {
		return types.NewMap(t, e[:len(e)/2], e[len(e)/2:])
	}}
	if l.Keys.Long() {
		if e, err := b.packEntries(c, l, key, value, r); e != nil || err != nil {
			return e, err
		}
	}
	n, i := l.Keys.Len(), 0
	c.Parts = make([]Expr, 2*n)
	err = b.eachEntry(l, func(k, v cql.Term) (err error) {
		if c.Parts[i], err = b.Bind(k, key); err != nil {
			return err
		}
		if c.Parts[n+i], err = b.Bind(v, value); err != nil {
			return err
		}
		i++
		return checkNoMarker("map", r, k, v)
	})
	if err != nil {
		return nil, err
	}
	return compose(c)
}

// vector binds [a, b] for a vector: it takes exactly as many elements as the vector has, markers too.
func (b *Binder) vector(l *cql.ListLiteral, r Receiver, t *types.Vector) (Expr, error) {
	if n := l.Elements.Len(); n != t.Dim {
		return nil, cqlerr.Invalidf("Invalid vector literal for %s of type %s; expected %d elements, but given %d",
			r.Name, r.Type, t.Dim, n)
	}
	return b.elements("vector", &Composed{
		Of: t, null: "null is not supported inside vectors",
		make: func(e [][]byte) []byte { return types.NewVector(t, e) },
	}, l.Elements, r, t.Elem)
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
	if l, ok := t.(*cql.Literal); ok && b.Selected == nil && l.Kind != cql.NullLiteral && literalFits(l, elem) {
		return nil
	}
	fit := b.Fit(t, elem)
	switch {
	case b.misplaced != nil:
		return b.misplaced
	case fit != functions.NoFit:
		return nil
	}
	return cqlerr.Invalidf("Invalid %s literal for %s: %s %s is not of type %s", kind, whole.Name, what, Text(t), elem)
}

// elements binds the elements of a literal of that kind, once all of them are known to be for it, as the parts of c.
func (b *Binder) elements(kind string, c *Composed, terms cql.Terms, whole Receiver, elem types.Type) (Expr, error) {
	err := b.Each(terms, func(t cql.Term) error { return b.checkElement(kind, "value", t, whole, elem) })
	if err != nil {
		return nil, err
	}
	r := whole.Part("value("+whole.Name+")", elem)
	if terms.Long() {
		if e, err := b.packElements(kind, c, terms, r, whole); e != nil || err != nil {
			return e, err
		}
	}
	c.Parts = make([]Expr, 0, terms.Len())
	err = b.Each(terms, func(t cql.Term) error {
		e, err := b.Bind(t, r)
		if err != nil {
			return err
		}
		c.Parts = append(c.Parts, e)
		if kind == "vector" {
			return nil
		}
		return checkNoMarker(kind, whole, t)
	})
	if err != nil {
		return nil, err
	}
	return compose(c)
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
