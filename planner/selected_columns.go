package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/schema"
)

// selectsOnlyStatic reports whether static columns are selected, and nothing else but partition keys. Cassandra
// asks this first, and complains at once of an unknown column on the way to the answer; others wait.
func selectsOnlyStatic(t *schema.Table, selectors []cql.Selector) (bool, error) {
	if len(t.Static) == 0 {
		return false, nil
	}
	static, err := anySelected(t, selectors, func(k schema.ColumnKind) bool { return k == schema.Static })
	if err != nil || !static {
		return false, err
	}
	other, err := anySelected(t, selectors, func(k schema.ColumnKind) bool { return k == schema.Clustering || k == schema.Regular })
	return !other, err
}

// checkSelectedColumns resolves the columns of a SELECT list before anything else is said of it.
func checkSelectedColumns(t *schema.Table, selectors []cql.Selector) error {
	_, err := anySelected(t, selectors, func(schema.ColumnKind) bool { return false })
	return err
}

// anySelected looks for a selected column of some kind, and no further than to the first.
func anySelected(t *schema.Table, selectors []cql.Selector, is func(schema.ColumnKind) bool) (bool, error) {
	for _, s := range selectors {
		for _, ref := range columnRefs(s.Expr) {
			c, err := column(t, *ref)
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
		var refs []*cql.ColumnRef
		for _, a := range t.Args {
			refs = append(refs, columnRefs(a)...)
		}
		return refs
	case *cql.Arithmetic:
		var refs []*cql.ColumnRef
		if t.Left != nil {
			refs = columnRefs(t.Left)
		}
		return append(refs, columnRefs(t.Right)...)
	}
	return nil
}
