package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
)

// insert plans INSERT INTO ... VALUES.
func (p *planning) insert(s *cql.Insert) (*Modification, error) {
	t, err := p.writable(Insert, s.Table, s.If)
	if err != nil {
		return nil, err
	}
	if s.JSON != nil {
		return nil, expr.NotSupported("INSERT JSON")
	}
	m := &Modification{Verb: Insert, Table: t}
	if err := m.attributes(p, s.Using); err != nil {
		return nil, err
	}
	if err := checkInsertColumns(s); err != nil {
		return nil, err
	}
	rs := &restrictions{table: t, verb: "INSERT"}
	clustering := false
	for i, ref := range s.Columns {
		c, err := column(t, ref)
		if err != nil {
			return nil, err
		}
		clustering = clustering || c.Kind == schema.Clustering
		if err := p.insertValue(m, rs, c, s.Values[i]); err != nil {
			return nil, err
		}
	}
	rs.onlyStatic = !clustering && m.onlyStatic()
	m.Mark = !rs.onlyStatic
	if m.Where, err = rs.resolve(); err != nil {
		return nil, err
	}
	m.settle()
	return m, nil
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

// insertValue binds the value of a column: part of the key, or an assignment.
func (p *planning) insertValue(m *Modification, rs *restrictions, c *schema.Column, term cql.Term) error {
	e, err := p.binder.Bind(term, expr.ColumnReceiver(m.Table, c))
	if err != nil {
		return err
	}
	if !c.Kind.IsKey() {
		if err := checkNoTuple(c, term); err != nil {
			return err
		}
		m.set(SetColumn{Column: c, Value: e})
		return nil
	}
	cols := []*schema.Column{c}
	choice := &Choice{Columns: cols, Points: []Point{{Parts: []expr.Expr{e}}}}
	return rs.add(&restriction{columns: cols, choice: choice})
}
