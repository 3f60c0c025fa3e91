package planner

import (
	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/schema"
)

// checkSelectedColumns resolves the columns of a SELECT list: Cassandra complains of unknown ones before
// it looks at the rest of the statement.
func checkSelectedColumns(t *schema.Table, selectors []cql.Selector) error {
	for _, s := range selectors {
		for _, ref := range columnRefs(s.Expr) {
			if _, err := column(t, *ref); err != nil {
				return err
			}
		}
	}
	return nil
}

// selectsOnlyStatic reports whether static columns are selected, and nothing else but partition keys.
func selectsOnlyStatic(t *schema.Table, selectors []cql.Selector) bool {
	static := false
	for _, s := range selectors {
		for _, ref := range columnRefs(s.Expr) {
			switch t.Column(ref.Name).Kind {
			case schema.Static:
				static = true
			case schema.PartitionKey:
			default:
				return false
			}
		}
	}
	return static
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
