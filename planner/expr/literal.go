package expr

import (
	"fmt"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// list checks [a, b] for a list or a vector.
func (c *Checker) list(l *cql.ListLiteral, r Receiver) (Expr, error) {
	if v, ok := r.Type.(*types.Vector); ok {
		return c.vector(l, r, v)
	}
	t, ok := r.Type.(*types.List)
	if !ok {
		return nil, noList(r.Type)
	}
	return c.elements("list", composed(t), l.Elements, r, t.Elem)
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
	return c.elements("set", composed(t), l.Elements, r, t.Elem)
}

// mapping checks {k: v} for a map.
func (c *Checker) mapping(l *cql.MapLiteral, r Receiver) (Expr, error) {
	t, ok := r.Type.(*types.Map)
	if !ok {
		return nil, cqlerr.Invalidf("Invalid map literal for %s of type %s", r.Name, r.Type)
	}
	key, value := r.Part("key("+r.Name+")", t.Key), r.Part("value("+r.Name+")", t.Value)
	err := c.eachEntry(l, func(k, v cql.Term) error {
		if err := c.checkElement("map", "key", k, r, t.Key); err != nil {
			return err
		}
		return c.checkElement("map", "value", v, r, t.Value)
	})
	if err != nil {
		return nil, err
	}
	m := composed(t)
	if l.Keys.Long() {
		if e, err := c.packEntries(m, l, key, value, r); e != nil || err != nil {
			return e, err
		}
	}
	n, i := l.Keys.Len(), 0
	m.Parts = make([]Expr, 2*n)
	err = c.eachEntry(l, func(k, v cql.Term) (err error) {
		if m.Parts[i], err = c.value(k, key); err != nil {
			return err
		}
		if m.Parts[n+i], err = c.value(v, value); err != nil {
			return err
		}
		i++
		return checkNoMarker("map", r, k, v)
	})
	if err != nil {
		return nil, err
	}
	return compose(m)
}

// vector checks [a, b] for a vector: it takes exactly as many elements as the vector has, markers too.
func (c *Checker) vector(l *cql.ListLiteral, r Receiver, t *types.Vector) (Expr, error) {
	if n := l.Elements.Len(); n != t.Dim {
		return nil, cqlerr.Invalidf("Invalid vector literal for %s of type %s; expected %d elements, but given %d",
			r.Name, r.Type, t.Dim, n)
	}
	return c.elements("vector", composed(t), l.Elements, r, t.Elem)
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

// checkNoMarker refuses bind markers inside list, set and map literals.
func checkNoMarker(kind string, r Receiver, terms ...cql.Term) error {
	if HasMarker(terms...) {
		return cqlerr.Invalidf("Invalid %s literal for %s: bind variables are not supported inside collection "+
			"literals", kind, r.Name)
	}
	return nil
}

// checkElement refuses a term that is not for the elements of a literal of that kind. One that is may still be refused
// when it is checked.
func (c *Checker) checkElement(kind, what string, t cql.Term, whole Receiver, elem types.Type) error {
	if fits, err := c.fits(t, elem); fits || err != nil {
		return err
	}
	return cqlerr.Invalidf("Invalid %s literal for %s: %s %s is not of type %s", kind, whole.Name, what, c.Text(t), elem)
}

// elements checks the elements of a literal of that kind, once all of them are known to be for it, as the parts of l.
func (c *Checker) elements(kind string, l *Composed, terms cql.Terms, whole Receiver, elem types.Type) (Expr, error) {
	err := c.Each(terms, func(t cql.Term) error { return c.checkElement(kind, "value", t, whole, elem) })
	if err != nil {
		return nil, err
	}
	r := whole.Part("value("+whole.Name+")", elem)
	if terms.Long() {
		if e, err := c.packElements(kind, l, terms, r, whole); e != nil || err != nil {
			return e, err
		}
	}
	l.Parts = make([]Expr, 0, terms.Len())
	err = c.Each(terms, func(t cql.Term) error {
		e, err := c.value(t, r)
		if err != nil {
			return err
		}
		l.Parts = append(l.Parts, e)
		if kind == "vector" {
			return nil
		}
		return checkNoMarker(kind, whole, t)
	})
	if err != nil {
		return nil, err
	}
	return compose(l)
}
