package planner

import (
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
)

// useIndexes tells filters which index compares values for them. SSTable-attached indexes are preferred, then those of the
// first kind.
func (rs *restrictions) useIndexes(w *Where) error {
	if !rs.indexed {
		return nil
	}
	kind := schema.SAI
	for _, of := range []schema.IndexKind{schema.LegacyIndex, schema.SASI} {
		if slices.ContainsFunc(w.Filters, func(f *Filter) bool { return rs.serving(f, of) != nil }) {
			kind = of
		}
	}
	for _, f := range w.Filters {
		of := kind
		if f.Like != nil {
			of = schema.SASI
		}
		f.Index = rs.serving(f, of)
		if x := f.Index; x != nil && x.Kind() == schema.SASI && x.SASIMode(f.Columns()[0]).Analyzer == schema.StandardAnalyzer {
			return expr.NotSupported("A search with the " + schema.StandardAnalyzer)
		}
	}
	return nil
}

// serving is the first index of a kind that serves a filter, or nil.
func (rs *restrictions) serving(f *Filter, kind schema.IndexKind) *schema.Index {
	r := &restriction{columns: f.Columns(), choice: f.Choice, slice: f.Range, like: f.Like}
	if f.Contains != nil {
		r.contains = []*Contains{f.Contains}
	}
	if len(r.columns) != 1 {
		return nil
	}
	at := slices.IndexFunc(rs.table.Indexes, func(x *schema.Index) bool {
		return x.Kind() == kind && r.servedBy(x, r.columns[0])
	})
	if at < 0 {
		return nil
	}
	return rs.table.Indexes[at]
}

// checkCustom refuses expr(index, value): no index here takes expressions of its own.
func checkCustom(t *schema.Table, expressions []cql.CustomExpression) error {
	if len(expressions) == 0 {
		return nil
	}
	if len(expressions) > 1 {
		return cqlerr.Invalidf("Multiple custom index expressions in a single query are not supported")
	}
	name := expressions[0].Index
	switch x := t.Index(name); {
	case x == nil:
		return cqlerr.Invalidf("Invalid index expression, index %s not found for %s.%s", name, cql.Quote(t.Keyspace), cql.Quote(t.Name))
	case x.Class == "":
		return cqlerr.Invalidf("Only CUSTOM indexes may be used in custom index expressions, %s is not valid", name)
	}
	return cqlerr.Invalidf("Index %s does not support custom expressions", name)
}

// checkNoCustom refuses expr(index, value) in writes.
func checkNoCustom(expressions []cql.CustomExpression) error {
	if len(expressions) > 0 {
		return cqlerr.Invalidf("Custom index expressions cannot be used in WHERE clauses for UPDATE or DELETE statements")
	}
	return nil
}
