package planner

import (
	"strings"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
)

// restriction is what one relation, or several merged, say of some columns.
type restriction struct {
	columns  []*schema.Column
	choice   *Choice
	slice    *Range
	contains []*Contains
	like     *Like
	nearest  *Nearest
	token    bool
	tuple    bool
}

// restriction gives a relation its columns and values.
func (p *planning) restriction(t *schema.Table, rel *cql.Relation) (*restriction, error) {
	switch {
	case rel.Op == cql.IsNotNull:
		return nil, cqlerr.Invalidf("Unsupported restriction: %s", relationText(rel))
	case rel.Op == cql.NotEq:
		return nil, cqlerr.Invalidf(`Unsupported "!=" relation: %s`, relationText(rel))
	case rel.Token:
		return p.tokenRestriction(t, rel)
	case rel.Tuple:
		return p.tupleRestriction(t, rel)
	}
	return p.columnRestriction(t, rel)
}

// columnRestriction is for relations with one column on the left.
func (p *planning) columnRestriction(t *schema.Table, rel *cql.Relation) (*restriction, error) {
	c, err := scope.Column(t, rel.Columns[0])
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
	r := &restriction{columns: []*schema.Column{c}}
	receiver := expr.ColumnReceiver(t, c)
	if rel.Op == cql.Contains || rel.Op == cql.ContainsKey || rel.Key != nil {
		return r, p.bindContains(r, c, rel, receiver)
	}
	bind := func(term cql.Term) (Point, error) {
		e, err := p.terms.Check(term, receiver)
		return Point{Parts: []expr.Expr{e}}, err
	}
	if rel.Op == cql.Like {
		return r, p.bindLike(r, rel, bind)
	}
	list := receiver.Part("in("+c.Name+")", &types.List{Elem: types.Freeze(c.Type), Frozen: true})
	return r, p.bindRelation(r, rel, bind, list)
}

// bindLike binds the right side of LIKE, which needs an index.
func (p *planning) bindLike(r *restriction, rel *cql.Relation, bind func(cql.Term) (Point, error)) error {
	point, err := bind(rel.Value)
	if err != nil {
		return err
	}
	c := r.columns[0]
	r.like = &Like{Column: c, Value: point.Parts[0]}
	if !r.served(p.terms.Table.Indexes) || p.out.Modifies {
		return cqlerr.Invalidf("LIKE restriction is only supported on properly indexed columns. %s is not valid.",
			relationText(rel))
	}
	return nil
}

// tupleRestriction is for (a, b) on the left.
func (p *planning) tupleRestriction(t *schema.Table, rel *cql.Relation) (*restriction, error) {
	r := &restriction{tuple: true}
	names := make([]string, len(rel.Columns))
	elems := make([]types.Type, len(rel.Columns))
	for i, ref := range rel.Columns {
		c, err := scope.Column(t, ref)
		if err != nil {
			return nil, err
		}
		if err := checkTupleColumn(r.columns, c, rel); err != nil {
			return nil, err
		}
		r.columns = append(r.columns, c)
		names[i], elems[i] = c.Name, c.Type
	}
	whole := expr.Receiver{
		Keyspace: t.Keyspace, Table: t.Name,
		Name: "(" + strings.Join(names, ",") + ")", Type: &types.Tuple{Elems: elems},
	}
	bind := func(term cql.Term) (Point, error) { return p.tuplePoint(t, r.columns, whole, term) }
	list := whole.Part("in"+whole.Name, &types.List{Elem: whole.Type, Frozen: true})
	return r, p.bindRelation(r, rel, bind, list)
}

// tuplePoint binds the right side of a relation on several columns.
func (p *planning) tuplePoint(t *schema.Table, cols []*schema.Column, whole expr.Receiver, term cql.Term) (Point, error) {
	l, ok := term.(*cql.TupleLiteral)
	if !ok {
		e, err := p.terms.Check(term, whole)
		return Point{Tuple: e}, err
	}
	if len(l.Elements) != len(cols) {
		return Point{}, cqlerr.Invalidf("Expected %d elements in value tuple, but got %d: %s", len(cols), len(l.Elements),
			expr.Text(l))
	}
	point := Point{Parts: make([]expr.Expr, len(cols))}
	for i, e := range l.Elements {
		var err error
		if point.Parts[i], err = p.terms.Check(e, expr.ColumnReceiver(t, cols[i])); err != nil {
			return Point{}, err
		}
	}
	return point, nil
}

// tokenRestriction is for token(a, b) on the left.
func (p *planning) tokenRestriction(t *schema.Table, rel *cql.Relation) (*restriction, error) {
	r := &restriction{token: true}
	for _, ref := range rel.Columns {
		c, err := scope.Column(t, ref)
		if err != nil {
			return nil, err
		}
		r.columns = append(r.columns, c)
	}
	if err := checkTokenColumns(t, r.columns); err != nil {
		return nil, err
	}
	receiver := expr.Receiver{Keyspace: t.Keyspace, Table: t.Name, Name: "partition key token", Type: types.BigInt}
	bind := func(term cql.Term) (Point, error) {
		e, err := p.terms.Check(term, receiver)
		return Point{Parts: []expr.Expr{e}}, err
	}
	list := receiver.Part("in(partition key token)", &types.List{Elem: types.BigInt, Frozen: true})
	return r, p.bindRelation(r, rel, bind, list)
}

// bindRelation binds the right side of =, IN and comparisons.
func (p *planning) bindRelation(r *restriction, rel *cql.Relation, bind func(cql.Term) (Point, error), list expr.Receiver) error {
	if rel.Op == cql.In {
		r.choice = &Choice{Columns: r.columns, In: rel.Values.Len() != 1}
		switch {
		case rel.Values.Parts == nil:
			e, err := p.terms.Check(rel.Value, list)
			r.choice.List = e
			return err
		case rel.Values.Long():
			return p.bindLongIn(r.choice, rel.Values, bind)
		}
		return p.bindIn(r.choice, rel.Values, bind)
	}
	point, err := bind(rel.Value)
	if err != nil {
		return err
	}
	if rel.Op == cql.Eq {
		r.choice = &Choice{Columns: r.columns, Points: []Point{point}}
		return nil
	}
	bound := &Bound{Columns: r.columns, Point: point, Inclusive: rel.Op == cql.LessEq || rel.Op == cql.GreaterEq}
	r.slice = &Range{Columns: r.columns}
	if rel.Op == cql.Less || rel.Op == cql.LessEq {
		r.slice.Upper = bound
	} else {
		r.slice.Lower = bound
	}
	return nil
}

// bindContains binds CONTAINS, CONTAINS KEY and m[key] = value.
func (p *planning) bindContains(r *restriction, c *schema.Column, rel *cql.Relation, receiver expr.Receiver) error {
	found := &Contains{Column: c, Keys: rel.Op == cql.ContainsKey}
	r.contains = []*Contains{found}
	key, value := elementTypes(c.Type)
	var err error
	if rel.Key != nil {
		if found.Key, err = p.terms.Check(rel.Key, receiver.Part("key("+c.Name+")", key)); err != nil {
			return err
		}
	}
	of := receiver.Part("value("+c.Name+")", value)
	if rel.Op == cql.ContainsKey {
		of = receiver.Part("key("+c.Name+")", key)
	}
	found.Value, err = p.terms.Check(rel.Value, of)
	return err
}

// elementTypes are the types of the keys and values of a collection; lists and sets have values only.
func elementTypes(t types.Type) (key, value types.Type) {
	switch t := t.(type) {
	case *types.List:
		return nil, t.Elem
	case *types.Set:
		return nil, t.Elem
	case *types.Map:
		return t.Key, t.Value
	}
	return nil, nil
}

func isSlice(op cql.Operator) bool {
	return op == cql.Less || op == cql.LessEq || op == cql.Greater || op == cql.GreaterEq
}
