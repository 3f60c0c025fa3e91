package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/scope"
)

// selectsOnlyStatic reports whether static columns are selected, and nothing else but partition keys. Cassandra
// asks this first, and complains at once of an unknown column or a wrong call on the way to the answer; others wait.
func (p *planning) selectsOnlyStatic(t *schema.Table, selectors []cql.Selector) (bool, error) {
	if len(t.Static) == 0 || t.Compact == schema.CompactStatic {
		return false, nil
	}
	static, err := anySelected(t, selectors, p.checkCall, func(k schema.ColumnKind) bool { return k == schema.Static })
	if err != nil || !static {
		return false, err
	}
	other, err := anySelected(t, selectors, p.checkCall, func(k schema.ColumnKind) bool { return k == schema.Clustering || k == schema.Regular })
	return !other, err
}

// checkCall resolves the calls in a selector, for their complaints alone.
func (p *planning) checkCall(t *schema.Table, e cql.SelectExpr) error {
	s := p.selecting(t)
	defer s.done()
	return s.prepare(e)
}

// anySelected looks for a selected column of some kind, and no further than to the first. It checks selectors on its
// way.
func anySelected(
	t *schema.Table, selectors []cql.Selector, check func(*schema.Table, cql.SelectExpr) error,
	is func(schema.ColumnKind) bool,
) (bool, error) {
	for _, s := range selectors {
		if err := check(t, s.Expr); err != nil {
			return false, err
		}
		for _, ref := range columnRefs(s.Expr) {
			c, err := scope.Column(t, *ref)
			if err != nil || is(c.Kind) {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// columnRefs are the columns named in a selector.
func columnRefs(t cql.Term) []*cql.ColumnRef {
	switch t := t.(type) {
	case *cql.ColumnRef:
		return []*cql.ColumnRef{t}
	case *cql.CellFunction:
		return columnRefs(t.Arg)
	case *cql.Element:
		return columnRefs(t.Of)
	case *cql.Slice:
		return columnRefs(t.Of)
	case *cql.Field:
		return columnRefs(t.Of)
	case *cql.Cast:
		return columnRefs(t.Value)
	case *cql.TypeHint:
		return columnRefs(t.Value)
	case *cql.Call:
		return allColumnRefs(t.Args)
	case *cql.TupleLiteral:
		return allColumnRefs(t.Elements)
	case *cql.ListLiteral:
		return allColumnRefs(t.Elements.Parts)
	case *cql.SetLiteral:
		return allColumnRefs(t.Elements.Parts)
	case *cql.MapLiteral:
		return append(allColumnRefs(t.Keys.Parts), allColumnRefs(t.Values.Parts)...)
	case *cql.UserTypeLiteral:
		return allColumnRefs(t.Values)
	case *cql.Arithmetic:
		var refs []*cql.ColumnRef
		if t.Left != nil {
			refs = columnRefs(t.Left)
		}
		return append(refs, columnRefs(t.Right)...)
	}
	return nil
}

// allColumnRefs are the columns named in several terms.
func allColumnRefs(terms []cql.Term) []*cql.ColumnRef {
	var refs []*cql.ColumnRef
	for _, t := range terms {
		refs = append(refs, columnRefs(t)...)
	}
	return refs
}
