package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
)

// delete plans DELETE.
func (p *planning) delete(s *cql.Delete) (*Modification, error) {
	t, err := p.writable(Delete, s.Table)
	if err != nil {
		return nil, err
	}
	m := &Modification{Verb: Delete, Table: t, Removes: len(s.Targets) == 0}
	if err := m.attributes(p, s.Using, s.If); err != nil {
		return nil, err
	}
	for i := range s.Targets {
		set, err := p.deleteTarget(t, &s.Targets[i])
		if err != nil {
			return nil, err
		}
		m.set(set)
	}
	if err := p.restrict(m, s.Custom, s.Where); err != nil {
		return nil, err
	}
	return m, m.checkConditionalDelete()
}

// deleteTarget resolves a column, or the part of one, that is deleted.
func (p *planning) deleteTarget(t *schema.Table, target *cql.DeleteTarget) (set SetColumn, err error) {
	c, err := scope.Column(t, target.Column)
	if err != nil {
		return set, err
	}
	if c.Kind.IsKey() {
		return set, cqlerr.Invalidf("Invalid identifier %s for deletion (should not be a PRIMARY KEY part)", c.Name)
	}
	r := expr.ColumnReceiver(t, c)
	set = SetColumn{Column: c, Value: expr.Null(c.Type)}
	switch {
	case target.Key != nil:
		set.Change = SetPart
		if err := checkPartDeletable(c); err != nil {
			return set, err
		}
		set.Part, err = p.part(target.Key, r)
	case target.Field != "":
		set.Change = SetField
		set.Field, err = deletableField(r, target.Field)
	}
	return set, err
}

// checkPartDeletable refuses to delete elements of a column without elements, or whose elements are not cells.
func checkPartDeletable(c *schema.Column) error {
	if key, value := types.ElementTypes(c.Type); key == nil && value == nil {
		return cqlerr.Invalidf("Invalid deletion operation for non collection column %s", c.Name)
	}
	if !types.IsMultiCell(c.Type) {
		return cqlerr.Invalidf("Invalid deletion operation for frozen collection column %s", c.Name)
	}
	return nil
}

// deletableField is the position of a field that can be deleted.
func deletableField(r expr.Receiver, name string) (int, error) {
	t, ok := r.Type.(*types.UserType)
	if !ok {
		return 0, cqlerr.Invalidf("Invalid field deletion operation for non-UDT column %s", r.Name)
	}
	if t.Frozen {
		return 0, cqlerr.Invalidf("Frozen UDT column %s does not support field deletions", r.Name)
	}
	return fieldOf(r, t, name)
}
