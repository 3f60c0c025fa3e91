package expr

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// noType is for a selector whose type nothing tells.
func (c *Checker) noType(t cql.Term) error {
	return cqlerr.Invalidf("Cannot infer type for term %s in selection clause (try using a cast to force a type)", c.Name(t))
}

// selectedColumn checks a column.
func (c *Checker) selectedColumn(ref *cql.ColumnRef) (Expr, error) {
	column, err := c.column(ref)
	if err != nil {
		return nil, err
	}
	if c.firstColumn == nil {
		c.firstColumn = column
	}
	if c.Masked != nil {
		return c.Masked(column)
	}
	return &Column{Column: column}, nil
}

// aggregate numbers an aggregate.
func (c *Checker) aggregate(a *Aggregate) Expr {
	a.Index = len(c.Aggregates)
	c.Aggregates = append(c.Aggregates, a)
	return a
}

// containsAggregate reports whether e depends on an aggregate.
func containsAggregate(e Expr) bool {
	_, is := e.(*Aggregate)
	return is || slices.ContainsFunc(Parts(e), containsAggregate)
}

// stamp checks WRITETIME, MAXWRITETIME and TTL of a column or of parts of one.
func (c *Checker) stamp(t *cql.CellFunction) (Expr, error) {
	column, err := c.column(ColumnRefs(t)[0])
	if err != nil {
		return nil, err
	}
	if column.Kind.IsKey() {
		return nil, cqlerr.Invalidf("Cannot use selection function %s on PRIMARY KEY part %s", t.Name, column.Name)
	}
	clear := *c
	clear.Masked = nil // masks hide values, not when they were written
	of, err := clear.selector(t.Arg, nil)
	if err != nil {
		return nil, err
	}
	c.Cells = true
	return &Stamp{Name: t.Name, Of: of}, nil
}

// stampType is the type that functions are chosen by for WRITETIME, MAXWRITETIME and TTL. Of a part of a column that is
// not frozen it is the type for the whole column, though the value is not one of it.
func (c *Checker) stampType(t *cql.CellFunction) types.Type {
	column, err := c.column(ColumnRefs(t)[0])
	if err != nil {
		return nil
	}
	return (&Stamp{Name: t.Name, Of: &Column{Column: column}}).Type()
}

// element checks x[key].
func (c *Checker) element(t *cql.Element) (Expr, error) {
	of, err := c.selector(t.Of, nil)
	if err != nil {
		return nil, err
	}
	if !isCollection(of.Type()) {
		return nil, cqlerr.Invalidf("Invalid element selection: %s is of type %s is not a collection", c.Name(t.Of), of.Type())
	}
	key, err := c.key(t.Of, of.Type(), "Element", t.Key)
	if err != nil {
		return nil, err
	}
	return &Element{Of: of, Key: key}, nil
}

// slice checks x[from..to].
func (c *Checker) slice(t *cql.Slice, expected types.Type) (Expr, error) {
	of, err := c.selector(t.Of, expected)
	if err != nil {
		return nil, err
	}
	if !isCollection(of.Type()) {
		return nil, cqlerr.Invalidf("Invalid slice selection: %s of type %s is not a collection", c.Name(t.Of), of.Type())
	}
	e := &Slice{Of: of}
	if e.From, err = c.key(t.Of, of.Type(), "Slice", t.From); err != nil {
		return nil, err
	}
	if e.To, err = c.key(t.Of, of.Type(), "Slice", t.To); err != nil {
		return nil, err
	}
	return e, nil
}

func isCollection(t types.Type) bool {
	switch t.(type) {
	case *types.List, *types.Set, *types.Map:
		return true
	}
	return false
}

// key checks a key of a map or an element of a set, which is a value and no selector; nil if there is none.
func (c *Checker) key(of cql.Term, t types.Type, what string, key cql.Term) (*Key, error) {
	if _, ok := t.(*types.List); ok {
		return nil, cqlerr.Invalidf("%s selection is only allowed on sets and maps, but %s is a list", what, c.Name(of))
	}
	if key == nil {
		return nil, nil
	}
	kind := "value"
	if _, ok := t.(*types.Map); ok {
		kind = "key"
	}
	name := c.Name(of)
	e, err := c.values().Check(key, Receiver{
		Keyspace: c.Keyspace, Table: c.Table.Name, Name: kind + "(" + name + ")", Type: KeyType(t),
	})
	if err != nil {
		return nil, err
	}
	return &Key{Expr: e, What: strings.ToLower(what), Of: name}, nil
}

// field checks x.name, which only user types have. A single term in parentheses is no tuple here.
func (c *Checker) field(t *cql.Field) (Expr, error) {
	var expected types.Type
	if tuple, ok := t.Of.(*cql.TupleLiteral); ok {
		expected = c.exactType(tuple.Elements[0])
	}
	of, err := c.selector(t.Of, expected)
	if err != nil {
		return nil, err
	}
	u, ok := of.Type().(*types.UserType)
	if !ok {
		return nil, cqlerr.Invalidf("Invalid field selection: %s of type %s is not a user type", c.Name(t.Of), of.Type())
	}
	i := u.Field(t.Name)
	if i < 0 {
		return nil, cqlerr.Invalidf("%s of type %s has no field %s", c.Name(t.Of), u, t.Name)
	}
	return &Field{Of: of, Index: i}, nil
}

// fieldType is the type of x.name, or nil if it is not known before x is checked: Cassandra does not see that a
// clustering column in descending order is of a user type.
func (c *Checker) fieldType(t *cql.Field) types.Type {
	if c.descends(t.Of) {
		return nil
	}
	if u, ok := c.exactType(t.Of).(*types.UserType); ok {
		if i := u.Field(t.Name); i >= 0 {
			return u.Fields[i].Type
		}
	}
	return nil
}
