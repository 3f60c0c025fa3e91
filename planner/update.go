package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/planner/where"
)

// update plans UPDATE.
func (p *planning) update(s *cql.Update) (*Modification, error) {
	t, err := p.writable(Update, s.Table)
	if err != nil {
		return nil, err
	}
	m := &Modification{Verb: Update, Table: t}
	if err := m.attributes(p, s.Using, s.If); err != nil {
		return nil, err
	}
	for i := range s.Set {
		if err := p.assign(m, &s.Set[i]); err != nil {
			return nil, err
		}
	}
	rs := where.New(&p.terms, t, string(Update))
	rs.OnlyStatic = m.onlyStatic()
	if err := where.CheckNoCustom(s.Custom); err != nil {
		return nil, err
	}
	if err := rs.AddRelations(s.Where); err != nil {
		return nil, err
	}
	if err := m.finish(rs); err != nil {
		return nil, err
	}
	p.maskConditions(m, rs)
	return m, m.checkSettable()
}
