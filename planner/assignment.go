package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
)

// Change is how a write changes a column.
type Change uint8

// The changes. All but the first are of columns that are not frozen, and of counters.
const (
	Replace  Change = iota // the whole value; null deletes it
	Add                    // elements at the end of a list, or to a set or map
	Prepend                // elements at the beginning of a list
	Remove                 // elements from a list or set, keys from a map
	SetPart                // one element, by its index in a list, by itself in a set or by its key in a map; null deletes it
	SetField               // one field of a user type; null deletes it
	Sum                    // a value appended to a text, or added to a number: null stays
)

// SetColumn is a change of one column.
type SetColumn struct {
	Column *schema.Column
	Change Change
	Part   expr.Expr // of SetPart: which
	Field  int       // of SetField: its position
	Value  expr.Expr
}

// ReadsRow reports whether the change depends on the stored row.
func (s *SetColumn) ReadsRow() bool { return s.Change == Sum || s.ReadsList() }

// ReadsList reports whether the change depends on the elements that a list has.
func (s *SetColumn) ReadsList() bool {
	_, list := s.Column.Type.(*types.List)
	return list && (s.Change == SetPart || s.Change == Remove)
}

// assign binds one assignment of SET.
func (p *planning) assign(m *Modification, a *cql.Assignment) error {
	c, err := scope.Column(m.Table, a.Column)
	if err != nil {
		return err
	}
	if c.Kind.IsKey() {
		return cqlerr.Invalidf("PRIMARY KEY part %s found in SET part", c.Name)
	}
	var set SetColumn
	r := expr.ColumnReceiver(m.Table, c)
	switch {
	case a.Key != nil:
		set, err = p.setPart(a, r)
	case a.Field != "":
		set, err = p.setField(a, r)
	case a.Op == cql.Assign:
		set.Value, err = p.whole(a, r)
	case a.Op == cql.Append:
		set, err = p.add(a, r, m.If != nil)
	case a.Op == cql.Subtract:
		set, err = p.remove(a, r)
	default:
		set, err = p.prepend(a, r)
	}
	if err != nil {
		return err
	}
	set.Column = c
	m.set(set)
	return nil
}

// whole binds column = value.
func (p *planning) whole(a *cql.Assignment, r expr.Receiver) (expr.Expr, error) {
	value, err := p.terms.Check(a.Value, r)
	if err == nil && r.Type == types.Counter {
		err = cqlerr.Invalidf("Cannot set the value of counter column %s (counters can only be incremented/decremented, "+
			"not set)", r.Name)
	}
	if err == nil {
		err = checkNoTuple(r.Column, a.Value)
	}
	return value, err
}

// setPart binds column[part] = value.
func (p *planning) setPart(a *cql.Assignment, r expr.Receiver) (set SetColumn, err error) {
	set.Change = SetPart
	key, value := types.ElementTypes(r.Type)
	switch {
	case value == nil && key == nil:
		return set, p.notFor(a, "non collection")
	case !types.IsMultiCell(r.Type):
		return set, p.notFor(a, "frozen collection")
	}
	if _, isSet := r.Type.(*types.Set); isSet {
		return set, p.notFor(a, "set")
	}
	if set.Part, err = p.part(a.Key, r); err != nil {
		return set, err
	}
	set.Value, err = p.terms.Check(a.Value, r.Part("value("+r.Name+")", value))
	return set, err
}

// part binds the key, element or index that names a part of a collection.
func (p *planning) part(t cql.Term, r expr.Receiver) (expr.Expr, error) {
	switch of := r.Type.(type) {
	case *types.Map:
		return p.terms.Check(t, r.Part("key("+r.Name+")", of.Key))
	case *types.Set:
		return p.terms.Check(t, r.Part("value("+r.Name+")", of.Elem))
	}
	return p.terms.Check(t, r.Part("idx("+r.Name+")", types.Int))
}

// setField binds column.field = value.
func (p *planning) setField(a *cql.Assignment, r expr.Receiver) (set SetColumn, err error) {
	t, ok := r.Type.(*types.UserType)
	switch {
	case !ok:
		return set, p.notFor(a, "non-UDT")
	case t.Frozen:
		return set, p.notFor(a, "frozen UDT")
	}
	set.Change = SetField
	if set.Field, err = fieldOf(r, t, a.Field); err != nil {
		return set, err
	}
	set.Value, err = p.terms.Check(a.Value, r.Part(r.Name+"."+a.Field, t.Fields[set.Field].Type))
	return set, err
}

// fieldOf is the position of a field of a column.
func fieldOf(r expr.Receiver, t *types.UserType, name string) (int, error) {
	for i, f := range t.Fields {
		if f.Name == name {
			return i, nil
		}
	}
	return 0, cqlerr.Invalidf("UDT column %s does not have a field named %s", r.Name, name)
}

// add binds column = column + value.
func (p *planning) add(a *cql.Assignment, r expr.Receiver, conditional bool) (set SetColumn, err error) {
	set.Change = Add
	if err := p.checkCombined(a, r.Type, conditional); err != nil {
		return set, err
	}
	if !types.IsMultiCell(r.Type) && r.Type != types.Counter {
		set.Change = Sum
	}
	set.Value, err = p.terms.Check(a.Value, r)
	if _, isMap := r.Type.(*types.Map); isMap && err != nil {
		err = cqlerr.Invalidf("Value for a map addition has to be a map, but was: '%s'", p.info.Text(a.Value))
	}
	return set, err
}

// remove binds column = column - value. From a map a set of keys is removed.
func (p *planning) remove(a *cql.Assignment, r expr.Receiver) (set SetColumn, err error) {
	set.Change = Remove
	if err := p.checkCombined(a, r.Type, false); err != nil {
		return set, err
	}
	m, isMap := r.Type.(*types.Map)
	if isMap {
		r = r.Part(r.Name, &types.Set{Elem: m.Key, Frozen: true})
	}
	set.Value, err = p.terms.Check(a.Value, r)
	if isMap && err != nil {
		err = cqlerr.Invalidf("Value for a map substraction has to be a set, but was: '%s'", p.info.Text(a.Value))
	}
	return set, err
}

// checkCombined refuses to add to columns, or take from them, that are neither counters nor collections of cells. A
// column with a condition can be added to if it is a number or text.
func (p *planning) checkCombined(a *cql.Assignment, t types.Type, conditional bool) error {
	if t == types.Counter {
		return nil
	}
	switch t := t.(type) {
	case *types.List, *types.Set, *types.Map:
		if !types.IsMultiCell(t) {
			return p.notFor(a, "frozen collection")
		}
		return nil
	case *types.Tuple, *types.UserType:
		if a.Op == cql.Append {
			return p.notFor(a, "tuple")
		}
	}
	if conditional {
		if functions.Adds(t) {
			return nil
		}
		return p.refuse(a, "for non-numeric and non-text type "+a.Column.Name)
	}
	return p.notFor(a, "non counter")
}

// prepend binds column = value + column. Here the value is looked at first.
func (p *planning) prepend(a *cql.Assignment, r expr.Receiver) (set SetColumn, err error) {
	set.Change = Prepend
	if set.Value, err = p.terms.Check(a.Value, r); err != nil {
		return set, err
	}
	list, ok := r.Type.(*types.List)
	switch {
	case !ok:
		return set, p.notFor(a, "non list")
	case list.Frozen:
		return set, p.notFor(a, "frozen list")
	}
	return set, nil
}

// notFor refuses an assignment to a column of that kind.
func (p *planning) notFor(a *cql.Assignment, kind string) error {
	return p.refuse(a, "for "+kind+" column "+a.Column.Name)
}

// refuse refuses an assignment.
func (p *planning) refuse(a *cql.Assignment, why string) error {
	return cqlerr.Invalidf("Invalid operation (%s) %s", p.assignmentText(a), why)
}

// assignmentText prints an assignment. Cassandra shows prepending as subtraction.
func (p *planning) assignmentText(a *cql.Assignment) string {
	name, value := a.Column.Name, p.info.Text(a.Value)
	text := name + " = " + name + " + " + value
	switch {
	case a.Key != nil:
		text = name + "[" + p.info.Text(a.Key) + "] = " + value
	case a.Field != "":
		text = name + "." + a.Field + " = " + value
	case a.Op == cql.Subtract:
		text = name + " = " + name + " - " + value
	case a.Op == cql.Prepend:
		text = name + " = " + value + " - " + name
	}
	return text
}

// checkNoTuple refuses a tuple's literal as the whole value of a column of a user type: Cassandra fails on it, though
// it takes one inside other values and in WHERE. One with markers is taken: there Cassandra checks bound values first.
func checkNoTuple(c *schema.Column, t cql.Term) error {
	if _, ok := c.Type.(*types.UserType); ok && expr.IsTuple(t) && !expr.HasMarker(t) {
		return cqlerr.Invalidf("Invalid tuple literal for %s of type %s", c.Name, c.Type)
	}
	return nil
}
