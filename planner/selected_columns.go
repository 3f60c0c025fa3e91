package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/scope"
)

// selectsOnlyStatic reports whether static columns are selected, and nothing else but partition keys. Cassandra
// asks this first, and complains at once of an unknown column or a wrong call on the way to the answer; others wait.
func (p *planning) selectsOnlyStatic(t *schema.Table, selectors []cql.Selector) (bool, error) {
	if len(t.Static) == 0 || t.Compact == schema.CompactStatic {
		return false, nil
	}
	static, err := p.anySelected(t, selectors, func(k schema.ColumnKind) bool { return k == schema.Static })
	if err != nil || !static {
		return false, err
	}
	other, err := p.anySelected(t, selectors, func(k schema.ColumnKind) bool { return k == schema.Clustering || k == schema.Regular })
	return !other, err
}

// anySelected looks for a selected column of some kind, and no further than to the first. It resolves selectors on its
// way.
func (p *planning) anySelected(t *schema.Table, selectors []cql.Selector, is func(schema.ColumnKind) bool) (bool, error) {
	terms := p.terms.Selection()
	for _, s := range selectors {
		if err := terms.Resolve(s.Expr); err != nil {
			return false, err
		}
		for _, ref := range expr.ColumnRefs(s.Expr) {
			c, err := scope.Column(t, *ref)
			if err != nil || is(c.Kind) {
				return err == nil, err
			}
		}
	}
	return false, nil
}
