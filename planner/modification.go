package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/define"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// Verb is the kind of a Modification.
type Verb string

// The verbs, as messages name them.
const (
	Insert Verb = "INSERT"
	Update Verb = "UPDATE"
	Delete Verb = "DELETE"
)

// Modification writes or deletes in one table: INSERT, UPDATE and DELETE.
type Modification struct {
	Verb      Verb
	Table     *schema.Table
	Where     *where.Clause
	Mark      bool           // write row markers
	Sets      []SetColumn    // of regular columns
	Statics   []SetColumn    // of static columns
	Mandatory *schema.Column // lacks its value, without which there is no row
	Removes   bool           // DELETE without columns: whole rows, ranges or partitions
	Timestamp expr.Expr      // nil: not given
	TTL       expr.Expr
	JSON      *expr.JSONColumns // of INSERT JSON ?: read before anything else
	Plain     bool              // no function is called
	Costly    bool              // its values may take long to compute, see expr.Costly
	If        *Conditions       // nil: it has none
	OneRow    bool              // the whole primary key is given, or only static columns are written in one partition
}

// set adds a change to the part of the row it is about.
func (m *Modification) set(s SetColumn) {
	if s.Column.Kind == schema.Static {
		m.Statics = append(m.Statics, s)
	} else {
		m.Sets = append(m.Sets, s)
	}
}

// restrict plans the WHERE clause of UPDATE or DELETE.
func (p *planning) restrict(m *Modification, custom []cql.CustomExpression, relations []cql.Relation) error {
	rs := where.New(&p.terms, m.Table, string(m.Verb))
	rs.OnlyStatic = m.onlyStatic()
	if err := where.CheckNoCustom(custom); err != nil {
		return err
	}
	if err := rs.AddRelations(relations); err != nil {
		return err
	}
	err := m.finish(rs)
	if err == nil {
		p.maskConditions(m, rs)
	}
	return err
}

// finish resolves the WHERE clause and everything that follows from it.
func (m *Modification) finish(rs *where.Restrictions) (err error) {
	rs.OnlyStatic = rs.OnlyStatic || m.onlyStatic()
	if m.Where, err = rs.Resolve(); err != nil {
		return err
	}
	m.settle()
	if err := m.checkConditional(); err != nil {
		return err
	}
	if err := m.checkNoView(); err != nil {
		return err
	}
	return m.checkCounterOptions()
}

// checkNoView refuses to write to a view.
func (m *Modification) checkNoView() error {
	if m.Table.View != nil {
		return cqlerr.Invalidf("Cannot directly modify a materialized view")
	}
	return nil
}

// checkVirtual refuses modifications that tables made by code do not support.
func (m *Modification) checkVirtual() error {
	switch {
	case !m.Table.Virtual:
		return nil
	case m.Timestamp != nil:
		return cqlerr.Invalidf("Custom timestamp is not supported by virtual tables")
	case m.TTL != nil:
		return cqlerr.Invalidf("Expiring columns are not supported by virtual tables")
	case m.If != nil:
		return cqlerr.Invalidf("Conditional updates are not supported by virtual tables")
	}
	return nil
}

// checkSettable refuses all but a plain UPDATE of the one column that statements may set, in a row that they name.
func (m *Modification) checkSettable() error {
	plain := m.Timestamp == nil && m.TTL == nil && m.If == nil && m.Where.SingleRow(m.Table)
	for i := range m.Sets {
		plain = plain && m.Sets[i].Column.Name == m.Table.Settable && m.Sets[i].Change == Replace
	}
	if m.Table.Settable != "" && !plain {
		return define.RowsNotModifiable(m.Table)
	}
	return nil
}

// settle computes facts about the plan once, so that executions need not.
func (m *Modification) settle() {
	m.OneRow = m.Where.SingleRow(m.Table) || m.onlyStatic() && m.Where.SinglePartition()
	m.Plain = m.Where.SinglePartition() && m.Where.Plain()
	m.Costly = m.JSON != nil || m.Where.Costly() || m.If != nil && m.If.costly()
	for _, sets := range [...][]SetColumn{m.Statics, m.Sets} {
		for _, s := range sets {
			m.Plain = m.Plain && where.IsPlain(s.Value) && (s.Part == nil || where.IsPlain(s.Part))
			m.Costly = m.Costly || expr.Costly(s.Value) || expr.Costly(s.Part)
		}
	}
	m.Plain = m.Plain && (m.If == nil || m.If.plain())
}

// writable resolves the table of a modification.
func (p *planning) writable(verb Verb, name cql.QualifiedName) (*schema.Table, error) {
	t, err := p.scope.Table(name)
	if err != nil {
		return nil, err
	}
	if t.Counter && verb == Insert {
		return nil, cqlerr.Invalidf("INSERT statements are not allowed on counter tables, use UPDATE instead")
	}
	if t.Virtual && !t.Writable {
		return nil, cqlerr.Invalidf("Modification is not supported by table %s.%s", t.Keyspace, t.Name)
	}
	if schema.IsServers(t) && !t.Writable && (t.Settable == "" || verb != Update) {
		return nil, define.RowsNotModifiable(t)
	}
	p.terms.About(t)
	return t, nil
}

// checkCounterOptions refuses USING in a counter table.
func (m *Modification) checkCounterOptions() error {
	switch {
	case !m.Table.Counter:
		return nil
	case m.Timestamp != nil:
		return cqlerr.Invalidf("Cannot provide custom timestamp for counter updates")
	case m.TTL != nil:
		return cqlerr.Invalidf("Cannot provide custom TTL for counter updates")
	}
	return nil
}

// using binds USING TIMESTAMP and TTL.
func (p *planning) using(keyspace, table string, u cql.Using) (timestamp, ttl expr.Expr, err error) {
	r := expr.Receiver{Keyspace: keyspace, Table: table}
	if u.Timestamp != nil {
		if timestamp, err = p.terms.Check(u.Timestamp, r.Part("[timestamp]", types.BigInt)); err != nil {
			return nil, nil, err
		}
	}
	if u.TTL != nil {
		if ttl, err = p.terms.Check(u.TTL, r.Part("[ttl]", types.Int)); err != nil {
			return nil, nil, err
		}
	}
	return timestamp, ttl, nil
}

// attributes binds USING and IF.
func (m *Modification) attributes(p *planning, u cql.Using, c cql.Conditions) (err error) {
	if m.Timestamp, m.TTL, err = p.using(m.Table.Keyspace, m.Table.Name, u); err != nil {
		return err
	}
	if m.If, err = p.conditions(m.Table, c, u); err != nil {
		return err
	}
	return m.checkVirtual()
}
