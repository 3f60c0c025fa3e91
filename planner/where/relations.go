package where

import (
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
)

// Restriction is one relation on some columns, or several merged. One of Choice, Slice and Contains is set,
// unless indexes alone serve it.
type Restriction struct {
	Columns  []*schema.Column
	Choice   *Choice
	Slice    *Range
	Contains []*Contains
	like     *Like
	nearest  *Nearest
	token    bool
	tuple    bool
}

// Relation gives a relation its columns and values. IS NOT NULL has none.
func (rs *Restrictions) Relation(rel *cql.Relation) (*Restriction, error) {
	switch {
	case rel.Op == cql.IsNotNull:
		return nil, cqlerr.Invalidf("Unsupported restriction: %s", relationText(rel))
	case rel.Op == cql.NotEq:
		return nil, cqlerr.Invalidf(`Unsupported "!=" relation: %s`, relationText(rel))
	case rel.Token:
		return rs.tokenRestriction(rel)
	case rel.Tuple:
		return rs.tupleRestriction(rel)
	}
	return rs.columnRestriction(rel)
}

// columnRestriction is for relations with one column on the left.
func (rs *Restrictions) columnRestriction(rel *cql.Relation) (*Restriction, error) {
	c, err := scope.Column(rs.table, rel.Columns[0])
	if err != nil {
		return nil, err
	}
	if isSlice(rel.Op) {
		if err := checkNoDuration(c.Type); err != nil {
			return nil, err
		}
	}
	if err := checkRelationType(c, rel); err != nil {
		return nil, err
	}
	r := &Restriction{Columns: []*schema.Column{c}}
	receiver := expr.ColumnReceiver(rs.table, c)
	if rel.Op == cql.Contains || rel.Op == cql.ContainsKey || rel.Key != nil {
		return r, rs.bindContains(r, c, rel, receiver)
	}
	bind := func(term cql.Term) (Point, error) {
		e, err := rs.terms.Check(term, receiver)
		return Point{Parts: []expr.Expr{e}}, err
	}
	if rel.Op == cql.Like {
		return r, rs.bindLike(r, rel, bind)
	}
	list := receiver.Part("in("+c.Name+")", &types.List{Elem: types.Freeze(c.Type), Frozen: true})
	return r, rs.bindRelation(r, rel, bind, list)
}

// bindLike binds the right side of LIKE, which needs an index.
func (rs *Restrictions) bindLike(r *Restriction, rel *cql.Relation, bind func(cql.Term) (Point, error)) error {
	point, err := bind(rel.Value)
	if err != nil {
		return err
	}
	c := r.Columns[0]
	r.like = &Like{Column: c, Value: point.Parts[0]}
	if !r.served(rs.table.Indexes) || rs.verb != "SELECT" {
		return cqlerr.Invalidf("LIKE restriction is only supported on properly indexed columns. %s is not valid.",
			relationText(rel))
	}
	return nil
}

// tupleRestriction is for (a, b) on the left.
func (rs *Restrictions) tupleRestriction(rel *cql.Relation) (*Restriction, error) {
	r := &Restriction{tuple: true}
	names := make([]string, len(rel.Columns))
	elems := make([]types.Type, len(rel.Columns))
	for i, ref := range rel.Columns {
		c, err := scope.Column(rs.table, ref)
		if err != nil {
			return nil, err
		}
		if err := checkTupleColumn(r.Columns, c, rel); err != nil {
			return nil, err
		}
		r.Columns = append(r.Columns, c)
		names[i], elems[i] = c.Name, c.Type
	}
	whole := expr.Receiver{
		Keyspace: rs.table.Keyspace, Table: rs.table.Name,
		Name: "(" + strings.Join(names, ",") + ")", Type: &types.Tuple{Elems: elems},
	}
	bind := func(term cql.Term) (Point, error) { return rs.tuplePoint(r.Columns, whole, term) }
	list := whole.Part("in"+whole.Name, &types.List{Elem: whole.Type, Frozen: true})
	return r, rs.bindRelation(r, rel, bind, list)
}

// tuplePoint binds the right side of a relation on several columns.
func (rs *Restrictions) tuplePoint(cols []*schema.Column, whole expr.Receiver, term cql.Term) (Point, error) {
	l, ok := term.(*cql.TupleLiteral)
	if !ok {
		e, err := rs.terms.Check(term, whole)
		return Point{Tuple: e}, err
	}
	if len(l.Elements) != len(cols) {
		return Point{}, cqlerr.Invalidf("Expected %d elements in value tuple, but got %d: %s", len(cols), len(l.Elements),
			expr.Text(l))
	}
	point := Point{Parts: make([]expr.Expr, len(cols))}
	for i, e := range l.Elements {
		var err error
		if point.Parts[i], err = rs.terms.Check(e, expr.ColumnReceiver(rs.table, cols[i])); err != nil {
			return Point{}, err
		}
	}
	return point, nil
}

// tokenRestriction is for token(a, b) on the left.
func (rs *Restrictions) tokenRestriction(rel *cql.Relation) (*Restriction, error) {
	r := &Restriction{token: true}
	for _, ref := range rel.Columns {
		c, err := scope.Column(rs.table, ref)
		if err != nil {
			return nil, err
		}
		r.Columns = append(r.Columns, c)
	}
	if err := checkTokenColumns(rs.table, r.Columns); err != nil {
		return nil, err
	}
	receiver := expr.Receiver{
		Keyspace: rs.table.Keyspace, Table: rs.table.Name, Name: "partition key token", Type: types.BigInt,
	}
	bind := func(term cql.Term) (Point, error) {
		e, err := rs.terms.Check(term, receiver)
		return Point{Parts: []expr.Expr{e}}, err
	}
	list := receiver.Part("in(partition key token)", &types.List{Elem: types.BigInt, Frozen: true})
	return r, rs.bindRelation(r, rel, bind, list)
}

// bindRelation binds the right side of =, IN and comparisons.
func (rs *Restrictions) bindRelation(
	r *Restriction, rel *cql.Relation, bind func(cql.Term) (Point, error), list expr.Receiver,
) error {
	if rel.Op == cql.In {
		r.Choice = &Choice{Columns: r.Columns, In: rel.Values.Len() != 1}
		switch {
		case rel.Values.Parts == nil:
			e, err := rs.terms.Check(rel.Value, list)
			r.Choice.List = e
			return err
		case rel.Values.Long():
			return rs.bindLongIn(r.Choice, rel.Values, bind)
		}
		return rs.bindIn(r.Choice, rel.Values, bind)
	}
	point, err := bind(rel.Value)
	if err != nil {
		return err
	}
	if rel.Op == cql.Eq {
		r.Choice = &Choice{Columns: r.Columns, Points: []Point{point}}
		return nil
	}
	bound := &Bound{Columns: r.Columns, Point: point, Inclusive: rel.Op == cql.LessEq || rel.Op == cql.GreaterEq}
	r.Slice = &Range{Columns: r.Columns}
	if rel.Op == cql.Less || rel.Op == cql.LessEq {
		r.Slice.Upper = bound
	} else {
		r.Slice.Lower = bound
	}
	return nil
}

// bindContains binds CONTAINS, CONTAINS KEY and m[key] = value.
func (rs *Restrictions) bindContains(
	r *Restriction, c *schema.Column, rel *cql.Relation, receiver expr.Receiver,
) error {
	found := &Contains{Column: c, Keys: rel.Op == cql.ContainsKey}
	r.Contains = []*Contains{found}
	key, value := types.ElementTypes(c.Type)
	var err error
	if rel.Key != nil {
		if found.Key, err = rs.terms.Check(rel.Key, receiver.Part("key("+c.Name+")", key)); err != nil {
			return err
		}
	}
	of := receiver.Part("value("+c.Name+")", value)
	if rel.Op == cql.ContainsKey {
		of = receiver.Part("key("+c.Name+")", key)
	}
	found.Value, err = rs.terms.Check(rel.Value, of)
	return err
}

// isSlice reports whether an operator compares by order.
func isSlice(op cql.Operator) bool {
	return op == cql.Less || op == cql.LessEq || op == cql.Greater || op == cql.GreaterEq
}
