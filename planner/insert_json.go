package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
	"github.com/cqld/cqld/planner/where"
)

// insertJSON gives each column of the table its value in a JSON object. Text that is not bound is read at once.
func (p *planning) insertJSON(m *Modification, rs *where.Restrictions, s *cql.Insert) error {
	columns := expr.NewJSONColumns(m.Table, s.DefaultUnset)
	value := func(c *schema.Column) expr.Expr { return &expr.JSONColumn{Column: c} }
	if l, ok := s.JSON.(*cql.Literal); ok {
		values, err := columns.Parse(l.Text, &p.clock, p.terms.Step)
		if err != nil {
			return err
		}
		value = func(c *schema.Column) expr.Expr { return &expr.Constant{Of: c.Type, Value: values[c.Index]} }
	} else {
		var err error
		r := expr.Receiver{Keyspace: m.Table.Keyspace, Table: m.Table.Name, Name: "[json]", Type: types.Text}
		if columns.Text, err = p.terms.Check(s.JSON, r); err != nil {
			return err
		}
		m.JSON = columns
	}
	for _, c := range m.Table.Columns {
		if m.Table.Compact == schema.CompactStatic && c.Kind == schema.Clustering {
			return scope.UndefinedColumn(m.Table, c.Name) // Cassandra looks for the one that nobody can name
		}
		if err := m.give(rs, c, value(c)); err != nil {
			return err
		}
	}
	return nil
}
