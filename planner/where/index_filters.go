package where

import (
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
)

// useIndexes tells filters which index compares values for them. SSTable-attached indexes are preferred, then those of
// the first kind. Of these one finds the rows; which one is chance in Cassandra, and the first filter's here. It also
// tells filters that find nothing beside SAI indexes.
func (rs *Restrictions) useIndexes(w *Clause) error {
	if !rs.indexed {
		return nil
	}
	kind := schema.SAI
	for _, of := range []schema.IndexKind{schema.LegacyIndex, schema.SASI} {
		if slices.ContainsFunc(w.Filters, func(f *Filter) bool { return len(rs.all(f, of)) > 0 }) {
			kind = of
		}
	}
	found := false
	for _, f := range w.Filters {
		all := rs.all(f, kind)
		if len(all) == 0 {
			continue
		}
		f.Index = all[0]
		f.Bytes = kind == schema.LegacyIndex && !found
		found = true
		if f.Like != nil {
			f.Like.Indexes = all
		}
		c := f.Columns()[0]
		for _, x := range all {
			if option := x.SASIMode(c).Unsupported(); kind == schema.SASI && option != "" {
				return expr.NotSupported("A search with the option " + option + " of the " + schema.StandardAnalyzer)
			}
		}
	}
	for _, f := range w.Filters {
		f.Never = found && kind == schema.SAI && f.isInsideFrozen()
	}
	return nil
}

// isInsideFrozen reports whether a filter looks for an element of a frozen collection. Where an SAI index finds the
// rows, Cassandra compares the element with the collection as a whole, and so finds none.
func (f *Filter) isInsideFrozen() bool {
	return f.Contains != nil && !types.IsMultiCell(f.Contains.Column.Type)
}

// all are the indexes of a kind that serve a filter, the oldest first.
func (rs *Restrictions) all(f *Filter, kind schema.IndexKind) []*schema.Index {
	r := &Restriction{Columns: f.Columns(), Choice: f.Choice, Slice: f.Range, like: f.Like}
	if f.Contains != nil {
		r.Contains = []*Contains{f.Contains}
	}
	if len(r.Columns) != 1 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(rs.table.Indexes), func(x *schema.Index) bool {
		return x.Kind() != kind || !r.servedBy(x, r.Columns[0])
	})
}

// CheckCustom refuses expr(index, value): no index here takes expressions of its own.
func CheckCustom(t *schema.Table, expressions []cql.CustomExpression) error {
	if len(expressions) == 0 {
		return nil
	}
	if len(expressions) > 1 {
		return cqlerr.Invalidf("Multiple custom index expressions in a single query are not supported")
	}
	name := expressions[0].Index
	switch x := t.Index(name); {
	case x == nil:
		return cqlerr.Invalidf("Invalid index expression, index %s not found for %s.%s", name, quote.Name(t.Keyspace),
			quote.Name(t.Name))
	case x.Class == "":
		return cqlerr.Invalidf("Only CUSTOM indexes may be used in custom index expressions, %s is not valid", name)
	}
	return cqlerr.Invalidf("Index %s does not support custom expressions", name)
}

// CheckNoCustom refuses expr(index, value) in writes.
func CheckNoCustom(expressions []cql.CustomExpression) error {
	if len(expressions) > 0 {
		return cqlerr.Invalidf("Custom index expressions cannot be used in WHERE clauses for UPDATE or DELETE statements")
	}
	return nil
}
