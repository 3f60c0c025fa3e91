package where

import (
	"slices"
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
)

// checkRelationType refuses operators that the type of the column does not take. Cassandra does not see that a
// clustering column in descending order is a collection.
func checkRelationType(c *schema.Column, rel *cql.Relation) error {
	_, isMap := c.Type.(*types.Map)
	key, value := types.ElementTypes(c.Type)
	isMap = isMap && !c.Desc
	isCollection := (key != nil || value != nil) && !c.Desc
	switch {
	case rel.Op == cql.ContainsKey && !isMap:
		return cqlerr.Invalidf("Cannot use CONTAINS KEY on non-map column %s", c.Name)
	case rel.Op == cql.Contains && !isCollection:
		return cqlerr.Invalidf("Cannot use CONTAINS on non-collection column %s", c.Name)
	case rel.Key != nil:
		return checkEntryType(c, rel)
	}
	if u, ok := c.Type.(*types.UserType); ok && !u.Frozen {
		return cqlerr.Invalidf("Non-frozen UDT column '%s' (%s) cannot be restricted by any relation", c.Name, c.Type)
	}
	if isCollection && types.IsMultiCell(c.Type) && rel.Op != cql.Contains && rel.Op != cql.ContainsKey {
		return cqlerr.Invalidf("Collection column '%s' (%s) cannot be restricted by a '%s' relation",
			c.Name, c.Type, rel.Op)
	}
	return nil
}

// checkEntryType refuses column[key] = value on a column that is not a map of cells.
func checkEntryType(c *schema.Column, rel *cql.Relation) error {
	if _, ok := c.Type.(*types.List); ok {
		return cqlerr.Invalidf("Indexes on list entries (%s[index] = value) are not currently supported.", c.Name)
	}
	if _, ok := c.Type.(*types.Map); !ok || c.Desc {
		return cqlerr.Invalidf("Column %s cannot be used as a map", c.Name)
	}
	if !types.IsMultiCell(c.Type) {
		return cqlerr.Invalidf("Map-entry equality predicates on frozen map column %s are not supported", c.Name)
	}
	if rel.Op != cql.Eq {
		return cqlerr.Invalidf("Only EQ relations are supported on map entries")
	}
	return nil
}

// checkNoDuration refuses to order durations, which have no order.
func checkNoDuration(t types.Type) error {
	if !types.HasDuration(t) {
		return nil
	}
	return cqlerr.Invalidf("Slice restrictions are not supported on %s", DurationColumns(t))
}

// DurationColumns is the name of columns of a type that has durations in error texts.
func DurationColumns(t types.Type) string {
	switch t.(type) {
	case *types.List, *types.Set, *types.Map:
		return "collections containing durations"
	case *types.Tuple:
		return "tuples containing durations"
	case *types.UserType:
		return "UDTs containing durations"
	}
	return "duration columns"
}

// checkTupleColumn refuses tuples of anything but clustering columns in their order.
func checkTupleColumn(before []*schema.Column, c *schema.Column, rel *cql.Relation) error {
	if c.Kind != schema.Clustering {
		return cqlerr.Invalidf("Multi-column relations can only be applied to clustering columns but was applied to: %s",
			c.Name)
	}
	if slices.Contains(before, c) {
		return cqlerr.Invalidf(`Column "%s" appeared twice in a relation: %s`, c.Name, relationText(rel))
	}
	if len(before) > 0 && c.Position != before[len(before)-1].Position+1 {
		return cqlerr.Invalidf("Clustering columns must appear in the PRIMARY KEY order in multi-column relations: %s",
			relationText(rel))
	}
	return nil
}

// checkTokenColumns refuses token() of anything but the whole partition key in its order.
func checkTokenColumns(t *schema.Table, cols []*schema.Column) error {
	if slices.Equal(cols, t.PartitionKey) {
		return nil
	}
	for _, c := range t.PartitionKey {
		if !slices.Contains(cols, c) {
			return cqlerr.Invalidf("The token() function must be applied to all partition key components or none of them")
		}
	}
	for i, c := range cols {
		if slices.Contains(cols[:i], c) {
			return cqlerr.Invalidf("The token() function contains duplicate partition key components")
		}
	}
	if len(cols) > len(t.PartitionKey) {
		return cqlerr.Invalidf("The token() function must contains only partition key components")
	}
	return cqlerr.Invalidf("The token function arguments must be in the partition key order: %s",
		names(t.PartitionKey, ", "))
}

// names joins the names of columns.
func names(cols []*schema.Column, sep string) string {
	return strings.Join(schema.ColumnNames(cols), sep)
}

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

// pointBytes are the values of a point; several columns are a tuple. It is nil if they are not all constants,
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
