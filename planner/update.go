package planner

import "github.com/cqld/cqld/cql"

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
	if err := p.restrict(m, s.Custom, s.Where); err != nil {
		return nil, err
	}
	return m, m.checkSettable()
}
