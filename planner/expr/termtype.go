package expr

import (
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/types"
)

// exactType is the type that a term has in any context, or nil if that depends.
func (c *Checker) exactType(t cql.Term) types.Type {
	switch t := t.(type) {
	case *cql.Literal, *cql.Marker, *cql.Run:
		return nil
	case *cql.CountAll:
		return types.BigInt
	case *cql.ColumnRef:
		if column := c.Table.Visible(t.Name); column != nil {
			return column.Type
		}
		return nil
	}
	facts := c.of(t)
	if !facts.exact.asked {
		facts.exact = known{c.ownType(t), true}
	}
	return facts.exact.Type
}

// ownType is exactType, worked out.
func (c *Checker) ownType(t cql.Term) types.Type {
	switch t := t.(type) {
	case *cql.TypeHint:
		if of, err := c.hinted(t); err == nil {
			return of
		}
	case *cql.ListLiteral, *cql.SetLiteral, *cql.MapLiteral:
		return c.collectionType(t, c.firstType)
	case *cql.TupleLiteral:
		if len(t.Elements) > 1 || !c.Selects {
			return c.tupleType(t, c.exactType)
		}
	case *cql.Call, *cql.Arithmetic:
		return c.resultType(t)
	case *cql.Cast:
		if !c.Selects {
			return c.resultType(t)
		}
		of, _ := c.Names.TypeOf(c.Keyspace, t.Type)
		return of
	case *cql.CellFunction:
		return c.stampType(t)
	case *cql.Element:
		switch of := c.exactType(t.Of).(type) {
		case *types.Map:
			return of.Value
		case *types.Set:
			return of.Elem
		}
	case *cql.Slice:
		if of := c.exactType(t.Of); KeyType(of) != nil {
			return of
		}
	case *cql.Field:
		return c.fieldType(t)
	}
	return nil
}

// resultType is the type that a call, operator or CAST returns if it is resolved without a receiver, or nil.
func (c *Checker) resultType(t cql.Term) types.Type {
	if call, ok := t.(*cql.Call); ok && c.Selects && isCountAll(call) {
		return types.BigInt
	}
	f := c.of(t).function
	if f == nil {
		var err error
		if f, err = c.function(t, Receiver{}, nil); err != nil {
			return nil
		}
	}
	return f.Returns
}

// firstType is the exact type of the first term that has one. In a run none has.
func (c *Checker) firstType(terms cql.Terms) types.Type {
	for _, t := range terms.Parts {
		if of := c.exactType(t); of != nil {
			return types.Freeze(of)
		}
	}
	return nil
}

// collectionType is the type of a collection whose terms have one: lists have it among selectors, maps among values.
func (c *Checker) collectionType(t cql.Term, typeOf func(cql.Terms) types.Type) types.Type {
	switch t := t.(type) {
	case *cql.ListLiteral:
		if elem := typeOf(t.Elements); elem != nil && c.Selects {
			return &types.List{Elem: elem, Frozen: true}
		}
	case *cql.SetLiteral:
		if elem := typeOf(t.Elements); elem != nil {
			return &types.Set{Elem: elem, Frozen: true}
		}
	case *cql.MapLiteral:
		key, value := typeOf(t.Keys), typeOf(t.Values)
		if key != nil && value != nil && !c.Selects {
			return &types.Map{Key: key, Value: value, Frozen: true}
		}
	}
	return nil
}

// tupleType is the type of a tuple all of whose components have one.
func (c *Checker) tupleType(l *cql.TupleLiteral, typeOf func(cql.Term) types.Type) types.Type {
	elems := make([]types.Type, len(l.Elements))
	for i, e := range l.Elements {
		of := typeOf(e)
		if of == nil {
			return nil
		}
		elems[i] = types.Freeze(of)
	}
	return &types.Tuple{Elems: elems}
}

// likelyType is a type that a term may have if its context has none: its exact type, or the type that a
// literal looks like. It is nil if there is none.
func (c *Checker) likelyType(t cql.Term) types.Type {
	switch t := t.(type) {
	case *cql.Literal:
		return literalType(t)
	case *cql.ListLiteral, *cql.SetLiteral, *cql.MapLiteral, *cql.TupleLiteral:
		facts := c.of(t)
		if !facts.likely.asked {
			facts.likely = known{c.looksLike(t), true}
		}
		return facts.likely.Type
	}
	return c.exactType(t)
}

// looksLike is likelyType of the literal of a collection or tuple.
func (c *Checker) looksLike(t cql.Term) types.Type {
	l, tuple := t.(*cql.TupleLiteral)
	switch {
	case !tuple:
		return c.collectionType(t, c.commonType)
	case len(l.Elements) > 1 && c.Selects:
		return c.tupleType(l, c.likelyType)
	}
	return c.exactType(t)
}

// commonType is the likely type of one of the terms that takes the values of all others.
func (c *Checker) commonType(terms cql.Terms) types.Type {
	var known []types.Type
	_ = c.Each(terms, func(t cql.Term) error { // which does not fail
		of := c.likelyType(t)
		if of == nil {
			return nil
		}
		of = types.Freeze(of)
		if !slices.ContainsFunc(known, func(other types.Type) bool { return types.Equal(of, other) }) {
			known = append(known, of)
		}
		return nil
	})
	for _, to := range known {
		all := true
		for _, from := range known {
			all = all && functions.TypeFit(to, from) != functions.NoFit
		}
		if all {
			return to
		}
	}
	return nil
}

// literalType is the type that a literal has when nothing around it says otherwise; nil for null.
func literalType(l *cql.Literal) types.Type {
	switch l.Kind {
	case cql.StringLiteral:
		if types.ASCII.Validate([]byte(l.Text)) == nil {
			return types.ASCII
		}
		return types.Text
	case cql.IntegerLiteral:
		for _, t := range [...]types.Type{types.Int, types.BigInt} {
			if _, err := t.ParseLiteral(types.IntegerLiteral, l.Text); err == nil {
				return t
			}
		}
		return types.VarInt
	case cql.FloatLiteral:
		return likelyFraction(l.Text)
	case cql.BooleanLiteral:
		return types.Boolean
	case cql.DurationLiteral:
		return types.Duration
	case cql.NullLiteral:
		return nil
	case cql.UUIDLiteral:
		if _, err := types.TimeUUID.ParseLiteral(types.UUIDLiteral, l.Text); err == nil {
			return types.TimeUUID
		}
		return types.UUID
	}
	return types.TinyInt // of hex literals whatever their length: it comes before blob when Cassandra asks each type
}

// likelyFraction is double, if a double printed is the same number, else decimal.
func likelyFraction(text string) types.Type {
	exact, err := types.Decimal.ParseLiteral(types.FloatLiteral, text)
	if err != nil {
		return types.Double // NaN and the infinite
	}
	double, err := types.Double.ParseLiteral(types.FloatLiteral, text)
	if err != nil {
		return types.Decimal
	}
	printed, err := types.Decimal.ParseLiteral(types.FloatLiteral, types.Double.Format(double))
	if err != nil || types.Decimal.Compare(exact, printed) != 0 {
		return types.Decimal
	}
	return types.Double
}
