package expr

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// Checker checks the terms of one statement that are in one scope, and records its findings in Info.
type Checker struct {
	Scope
	*Info

	// Masked makes the expression that shows a column to users who may not see masked values; nil: the column.
	Masked func(*schema.Column) (Expr, error)
}

// Selection is the checker of the statement's SELECT list.
func (c *Checker) Selection() *Checker {
	s := *c
	s.Selects = true
	return &s
}

// values is the checker of values inside a SELECT list.
func (c *Checker) values() *Checker {
	v := *c
	v.Selects = false
	return &v
}

// Check makes an expression of a term whose value is for r. The type of a selector may be its own: then r is zero.
func (c *Checker) Check(t cql.Term, r Receiver) (Expr, error) {
	if !c.Selects {
		return c.value(t, r)
	}
	if err := c.Resolve(t); err != nil {
		return nil, err
	}
	return c.selector(t, r.Type)
}

// value checks a value.
func (c *Checker) value(t cql.Term, r Receiver) (Expr, error) {
	switch t := t.(type) {
	case *cql.Literal:
		return c.literal(t, r)
	case *cql.Marker:
		return c.mark(t, r), nil
	case *cql.ListLiteral:
		return c.list(t, r)
	case *cql.SetLiteral:
		return c.set(t, r)
	case *cql.MapLiteral:
		return c.mapping(t, r)
	case *cql.TupleLiteral:
		return c.tuple(t, r)
	case *cql.UserTypeLiteral:
		return c.userType(t, r)
	case *cql.TypeHint:
		return c.hint(t, r)
	case *cql.Call, *cql.Cast, *cql.Arithmetic:
		return c.call(t, r)
	}
	return nil, NotSupported(t.String())
}

// selector checks a selector whose names are resolved. A selector without a type gets the expected one, or nil.
func (c *Checker) selector(t cql.Term, expected types.Type) (Expr, error) {
	switch t := t.(type) {
	case *cql.Literal, *cql.Marker:
		if expected == nil {
			return nil, c.noType(t)
		}
		return c.value(t, Receiver{Keyspace: c.Keyspace, Table: c.Table.Name, Name: "[selection]", Type: expected})
	case *cql.ColumnRef:
		return c.selectedColumn(t)
	case *cql.CountAll:
		return c.aggregate(&Aggregate{}), nil
	case *cql.CellFunction:
		return c.stamp(t)
	case *cql.Element:
		return c.element(t)
	case *cql.Slice:
		return c.slice(t, expected)
	case *cql.Field:
		return c.field(t)
	case *cql.TypeHint:
		return c.selectedHint(t)
	case *cql.Call, *cql.Arithmetic:
		return c.selectedCall(t)
	case *cql.Cast:
		return c.selectedCast(t)
	}
	return c.selectedLiteral(t, expected)
}

// Resolve is the first phase of checking a selector: it finds the columns, types and functions that are named in it.
// It may be asked for alone, and then again.
func (c *Checker) Resolve(t cql.Term) error {
	switch t := t.(type) {
	case *cql.ColumnRef:
		_, err := c.column(t)
		return err
	case *cql.MapLiteral:
		return c.resolveEntries(t)
	case *cql.Call:
		if isCountAll(t) {
			return nil
		}
	}
	if err := c.resolveAll(subterms(t)); err != nil {
		return err
	}
	switch t := t.(type) {
	case *cql.Call, *cql.Arithmetic:
		return c.resolveCall(t)
	case *cql.TypeHint:
		_, err := c.hinted(t)
		return err
	}
	return nil
}

func (c *Checker) resolveAll(terms []cql.Term) error {
	for _, t := range terms {
		if err := c.Resolve(t); err != nil {
			return err
		}
	}
	return nil
}

// resolveEntries resolves a map. Keys that are names may be the fields of a user type: they are looked at when its type
// is known.
func (c *Checker) resolveEntries(m *cql.MapLiteral) error {
	for i, key := range m.Keys.Parts {
		if _, name := key.(*cql.ColumnRef); !name {
			if err := c.Resolve(key); err != nil {
				return err
			}
		}
		if err := c.Resolve(m.Values.Parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// resolveCall finds the function of a call or operator whose arguments are resolved.
func (c *Checker) resolveCall(t cql.Term) error {
	facts := c.of(t)
	if facts.function != nil {
		return nil
	}
	f, err := c.function(t, Receiver{}, (*Info).Name)
	if err != nil {
		return err
	}
	if f.Returns == types.LegacyTimeUUID && len(f.Args) > 0 && f.Args[0] == types.TimeUUID {
		f = c.ofTimeUUID(f, subterms(t)[0])
	}
	facts.function = f
	return nil
}

// ofTimeUUID is a function that returns the type of its first argument, timeuuid, as Cassandra has it: where the
// argument is a descending column it is timeuuid, else LegacyTimeUUIDType. The second argument of mask_replace has the
// type too.
func (c *Checker) ofTimeUUID(f *functions.Function, first cql.Term) *functions.Function {
	own := *f
	if c.descends(first) {
		own.Returns = types.TimeUUID
	}
	if len(f.Args) > 1 {
		own.Args = []types.Type{f.Args[0], own.Returns}
	}
	return &own
}
