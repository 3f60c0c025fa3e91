package where

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
)

// bindIn binds the values of an IN.
func (rs *Restrictions) bindIn(c *Choice, values cql.Terms, bind func(cql.Term) (Point, error)) error {
	return rs.terms.Each(values, func(t cql.Term) error {
		point, err := bind(t)
		c.Points = append(c.Points, point)
		return err
	})
}

// bindLongIn binds the values of an IN that has many. If they are constants, and none is null, they become one list, as
// IN ? has it, and not a point each.
func (rs *Restrictions) bindLongIn(c *Choice, values cql.Terms, bind func(cql.Term) (Point, error)) error {
	list, packed := expr.NewPacked(values, choiceType(c.Columns)), true
	err := rs.terms.Each(values, func(t cql.Term) error {
		point, err := bind(t)
		if err != nil || !packed {
			return err
		}
		value := pointBytes(point)
		if packed = value != nil; packed {
			return list.AddValue(value)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !packed {
		if err := expr.CheckMixed(values); err != nil {
			return err
		}
		return rs.bindIn(c, values, bind)
	}
	c.List = &expr.Constant{
		Of: &types.List{Elem: choiceType(c.Columns), Frozen: true}, Value: types.Value{Bytes: list.List()},
	}
	return nil
}

// pointBytes are the values of a point, those of several columns as a tuple. It is nil if they are not all constants,
// or one is null.
func pointBytes(p Point) []byte {
	fields := make([][]byte, len(p.Parts))
	for i, e := range p.Parts {
		c, ok := e.(*expr.Constant)
		if !ok || c.Value.Bytes == nil {
			return nil
		}
		fields[i] = c.Value.Bytes
	}
	switch len(fields) {
	case 0:
		return nil
	case 1:
		return fields[0]
	}
	return types.NewTuple(fields)
}

// choiceType is the type of the values of columns, as pointBytes has them.
func choiceType(cols []*schema.Column) types.Type {
	if len(cols) == 1 {
		return types.Freeze(cols[0].Type)
	}
	elems := make([]types.Type, len(cols))
	for i, c := range cols {
		elems[i] = c.Type
	}
	return &types.Tuple{Elems: elems}
}
