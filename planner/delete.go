package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
)

// delete plans DELETE.
func (p *planning) delete(s *cql.Delete) (*Modification, error) {
	t, err := p.writable(s.Table, s.If)
	if err != nil {
		return nil, err
	}
	m := &Modification{Verb: Delete, Table: t, Removes: len(s.Targets) == 0}
	if err := m.attributes(p, s.Using); err != nil {
		return nil, err
	}
	for i := range s.Targets {
		c, err := deleteTarget(t, &s.Targets[i])
		if err != nil {
			return nil, err
		}
		m.set(c, expr.Null(c.Type))
	}
	rs := &restrictions{table: t, verb: "DELETE", onlyStatic: m.onlyStatic()}
	if err := p.restrict(rs, s.Where); err != nil {
		return nil, err
	}
	if err := m.finish(rs); err != nil {
		return nil, err
	}
	if err := checkRangeDelete(m); err != nil {
		return nil, err
	}
	return m, nil
}

// deleteTarget resolves a column whose cell is deleted.
func deleteTarget(t *schema.Table, target *cql.DeleteTarget) (*schema.Column, error) {
	c, err := column(t, target.Column)
	if err != nil {
		return nil, err
	}
	if c.Kind.IsKey() {
		return nil, cqlerr.Invalidf("Invalid identifier %s for deletion (should not be a PRIMARY KEY part)", c.Name)
	}
	key, value := elementTypes(c.Type)
	isCollection := key != nil || value != nil
	switch {
	case target.Key != nil && !isCollection:
		return nil, cqlerr.Invalidf("Invalid deletion operation for non collection column %s", c.Name)
	case target.Key != nil && !types.IsMultiCell(c.Type):
		return nil, cqlerr.Invalidf("Invalid deletion operation for frozen collection column %s", c.Name)
	case target.Field != "":
		if _, ok := c.Type.(*types.UserType); ok {
			return nil, cqlerr.Invalidf("Frozen UDT column %s does not support field deletions", c.Name)
		}
		return nil, cqlerr.Invalidf("Invalid field deletion operation for non-UDT column %s", c.Name)
	}
	return c, checkSettable(c)
}

// checkRangeDelete refuses to delete ranges over columns of which some ascend and some descend.
func checkRangeDelete(m *Modification) error {
	if s := m.Where.Slice; s != nil && s.MixedOrder() {
		return expr.NotSupported("Deleting a range of several columns with different clustering orders")
	}
	return nil
}

// MixedOrder reports whether some of the range's columns ascend and some descend, so that it is not one
// range of clustering keys.
func (r *Range) MixedOrder() bool {
	for _, c := range r.Columns {
		if c.Desc != r.Columns[0].Desc {
			return true
		}
	}
	return false
}
