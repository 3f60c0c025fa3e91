package expr

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/types"
)

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
	if err := checkNative(f); err != nil {
		return err
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
