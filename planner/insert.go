package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
	"github.com/cqld/cqld/planner/where"
)

// insert plans INSERT.
func (p *planning) insert(s *cql.Insert) (*Modification, error) {
	t, err := p.writable(Insert, s.Table)
	if err != nil {
		return nil, err
	}
	m := &Modification{Verb: Insert, Table: t}
	if err := m.attributes(p, s.Using, s.If); err != nil {
		return nil, err
	}
	rs := where.New(&p.terms, t, string(Insert))
	if s.JSON != nil {
		err = p.insertJSON(m, rs, s)
	} else {
		err = p.insertValues(m, rs, s)
	}
	if err != nil {
		return nil, err
	}
	rs.OnlyStatic = !rs.Restricts(schema.Clustering) && m.onlyStatic()
	m.Mark = !rs.OnlyStatic && t.Compact == schema.NotCompact
	m.keepRow()
	if m.Where, err = rs.Resolve(); err != nil {
		return nil, err
	}
	m.settle()
	if err := m.checkConditional(); err != nil {
		return nil, err
	}
	p.maskConditions(m, rs)
	return m, m.checkNoView()
}

// insertValues binds the values of the named columns: in their order the columns that are set, then the key.
func (p *planning) insertValues(m *Modification, rs *where.Restrictions, s *cql.Insert) error {
	if err := checkInsertColumns(s); err != nil {
		return err
	}
	key := make([]*schema.Column, len(s.Columns))
	for i, ref := range s.Columns {
		c, err := scope.Column(m.Table, ref)
		if err != nil {
			return err
		}
		if c.Kind.IsKey() {
			key[i] = c
			continue
		}
		if err := p.insertValue(m, rs, c, s.Values[i]); err != nil {
			return err
		}
	}
	for i, c := range key {
		if c == nil {
			continue
		}
		if err := p.insertValue(m, rs, c, s.Values[i]); err != nil {
			return err
		}
	}
	return nil
}

// insertValue binds the value of a column.
func (p *planning) insertValue(m *Modification, rs *where.Restrictions, c *schema.Column, term cql.Term) error {
	e, err := p.terms.Check(term, expr.ColumnReceiver(m.Table, c))
	if err != nil {
		return err
	}
	if !c.Kind.IsKey() {
		if err := checkNoTuple(c, term); err != nil {
			return err
		}
	}
	return m.give(rs, c, e)
}

// checkInsertColumns refuses column and value lists that do not fit together.
func checkInsertColumns(s *cql.Insert) error {
	if len(s.Columns) != len(s.Values) {
		return cqlerr.Invalidf("Unmatched column names/values")
	}
	seen := make(map[string]bool, len(s.Columns))
	for _, c := range s.Columns {
		if seen[c.Name] {
			return cqlerr.Invalidf("The column names contains duplicates")
		}
		seen[c.Name] = true
	}
	return nil
}

// give gives a column its value: part of the key, or an assignment.
func (m *Modification) give(rs *where.Restrictions, c *schema.Column, value expr.Expr) error {
	if !c.Kind.IsKey() {
		m.set(SetColumn{Column: c, Value: value})
		return nil
	}
	return rs.AddValue(c, value)
}

// keepRow makes an INSERT that gives a row of a table WITH COMPACT STORAGE nothing but its key write the column that
// no statement can name. A declared column is mandatory; its error comes when the row is written.
func (m *Modification) keepRow() {
	c := m.Table.KeepsRows()
	switch {
	case c == nil || m.onlyStatic() || len(m.Sets) > 0:
	case c.Type == types.Empty:
		m.set(SetColumn{Column: c, Value: &expr.Constant{Of: c.Type, Value: types.Value{Bytes: []byte{}}}})
	default:
		m.Mandatory = c
	}
}

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
			return scope.UndefinedColumn(m.Table, c.Name) // Cassandra looks for the one that cannot be named
		}
		if err := m.give(rs, c, value(c)); err != nil {
			return err
		}
	}
	return nil
}
