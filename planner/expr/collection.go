package expr

import (
	"fmt"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
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

// ErrNullElement refuses null as an element of a collection.
func ErrNullElement() error { return cqlerr.Invalidf(nullInCollection) }

// compose folds a composed value whose parts are constants.
func compose(c *Composed) (Expr, error) { return fold(c, c.Parts) }

// composed is a value of the type without its parts.
func composed(t types.Type) *Composed {
	c := &Composed{Of: t}
	switch t := t.(type) {
	case *types.List:
		c.make, c.null = types.NewList, nullInCollection
	case *types.Set:
		c.make, c.null = func(e [][]byte) []byte { return types.NewSet(t, e) }, nullInCollection
	case *types.Map:
		c.make, c.null = func(e [][]byte) []byte { return types.NewMap(t, e[:len(e)/2], e[len(e)/2:]) }, nullInCollection
	case *types.Vector:
		c.make, c.null = func(e [][]byte) []byte { return types.NewVector(t, e) }, "null is not supported inside vectors"
	default:
		c.make = types.NewTuple
	}
	return c
}

// selectedParts makes a value of selected parts, of a map keys and then values. It may have nulls where a value that is
// written has none.
func selectedParts(t types.Type, parts []Expr) Expr {
	c := composed(t)
	c.Parts = parts
	switch t.(type) {
	case *types.List:
		c.null = ""
	case *types.Map:
		c.nullValues = true
	}
	if e, err := compose(c); err == nil {
		return e
	}
	return c // it fails when there are rows
}
