package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
)

// update plans UPDATE.
func (p *planning) update(s *cql.Update) (*Modification, error) {
	t, err := p.writable(s.Table, s.If)
	if err != nil {
		return nil, err
	}
	m := &Modification{Verb: Update, Table: t}
	if err := m.attributes(p, s.Using); err != nil {
		return nil, err
	}
	if err := checkSetOnce(s.Set); err != nil {
		return nil, err
	}
	for i := range s.Set {
		if err := p.assign(m, &s.Set[i]); err != nil {
			return nil, err
		}
	}
	rs := &restrictions{table: t, verb: "UPDATE", onlyStatic: m.onlyStatic()}
	if err := p.restrict(rs, s.Where); err != nil {
		return nil, err
	}
	return m, m.finish(rs)
}

// checkSetOnce refuses two assignments of which one replaces the whole column.
func checkSetOnce(set []cql.Assignment) error {
	for i, a := range set {
		for _, b := range set[:i] {
			whole := isWhole(&a) || isWhole(&b)
			if a.Column.Name == b.Column.Name && whole {
				return cqlerr.Syntaxf("Multiple incompatible setting of column %s", a.Column.Name)
			}
		}
	}
	return nil
}

func isWhole(a *cql.Assignment) bool { return a.Op == cql.Assign && a.Key == nil && a.Field == "" }

// assign binds one assignment of SET.
func (p *planning) assign(m *Modification, a *cql.Assignment) error {
	c, err := column(m.Table, a.Column)
	if err != nil {
		return err
	}
	if c.Kind.IsKey() {
		return cqlerr.Invalidf("PRIMARY KEY part %s found in SET part", c.Name)
	}
	if err := checkSettable(c); err != nil {
		return err
	}
	if err := checkAssignable(c, a); err != nil {
		return err
	}
	e, err := p.binder.Bind(a.Value, expr.ColumnReceiver(m.Table, c))
	if err != nil {
		return err
	}
	m.set(c, e)
	return nil
}

// checkAssignable refuses operations that columns of one cell do not have: adding to them, and setting
// their elements and fields.
func checkAssignable(c *schema.Column, a *cql.Assignment) error {
	switch {
	case a.Key != nil:
		return checkElementAssignable(c, a)
	case a.Field != "":
		if _, ok := c.Type.(*types.UserType); ok {
			return cqlerr.Invalidf("Invalid operation (%s) for frozen UDT column %s", a, c.Name)
		}
		return cqlerr.Invalidf("Invalid operation (%s) for non-UDT column %s", a, c.Name)
	case a.Op == cql.Assign:
		return nil
	}
	switch c.Type.(type) {
	case *types.List, *types.Set, *types.Map:
		return cqlerr.Invalidf("Invalid operation (%s) for frozen collection column %s", a, c.Name)
	case *types.Tuple, *types.UserType:
		return cqlerr.Invalidf("Invalid operation (%s) for tuple column %s", a, c.Name)
	}
	if a.Op == cql.Prepend {
		return cqlerr.Invalidf("Invalid operation (%s) for non list column %s", a, c.Name)
	}
	return cqlerr.Invalidf("Invalid operation (%s) for non counter column %s", a, c.Name)
}

// checkElementAssignable is checkAssignable for column[key] = value.
func checkElementAssignable(c *schema.Column, a *cql.Assignment) error {
	switch c.Type.(type) {
	case *types.List, *types.Map, *types.Set:
		return cqlerr.Invalidf("Invalid operation (%s) for frozen collection column %s", a, c.Name)
	}
	return cqlerr.Invalidf("Invalid operation (%s) for non collection column %s", a, c.Name)
}
