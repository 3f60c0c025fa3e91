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

// asked is the kind of a restriction, as far as it matters to indexes.
type asked uint8

const (
	askEqual asked = iota
	askIn
	askRange
	askContains
	askContainsKey
	askLike
	askNearest
)

// serves reports whether an index finds the rows that a restriction of column c asks for.
func serves(x *schema.Index, c *schema.Column, what asked) bool {
	if x.Column() != c.Name {
		return false
	}
	switch x.Kind() {
	case schema.SAI:
		return saiServes(x, c, what)
	case schema.SASI:
		return sasiServes(x.SASIMode(c), what)
	}
	if types.IsMultiCell(c.Type) {
		return what == partAsked(x.Part())
	}
	return what == askEqual
}

// partAsked is the kind of restriction that indexes of a part of a collection serve.
func partAsked(part schema.IndexPart) asked {
	switch part {
	case schema.IndexValues:
		return askContains
	case schema.IndexKeys:
		return askContainsKey
	}
	return askEqual
}

// saiServes is serves for storage-attached indexes. Text, booleans, UUIDs and composite values have no
// ranges; that descending UUIDs do is a mistake of Cassandra.
func saiServes(x *schema.Index, c *schema.Column, what asked) bool {
	if types.IsMultiCell(c.Type) {
		return what == partAsked(x.Part())
	}
	switch c.Type.(type) {
	case *types.Vector:
		return what == askNearest
	case *types.List, *types.Set, *types.Map, *types.Tuple, *types.UserType:
		return what == askEqual
	}
	switch c.Type {
	case types.Text, types.ASCII, types.Boolean:
		return what == askEqual
	case types.UUID:
		return what == askEqual || what == askRange && c.Desc
	}
	return what == askEqual || what == askRange
}

// sasiServes is serves for SSTable-attached indexes.
func sasiServes(m schema.SASIMode, what asked) bool {
	switch what {
	case askLike:
		return m.Literal
	case askEqual:
		return !m.Tokenizes()
	case askRange:
		return !m.Literal && m.Mode != "CONTAINS"
	}
	return false
}

// asks are the kinds of a restriction of its columns.
func (r *Restriction) asks() []asked {
	switch {
	case r.nearest != nil:
		return []asked{askNearest}
	case r.like != nil:
		return []asked{askLike}
	case r.Slice != nil:
		return []asked{askRange}
	case r.Choice != nil && r.Choice.In:
		return []asked{askIn}
	case r.Choice != nil:
		return []asked{askEqual}
	}
	all := make([]asked, len(r.Contains))
	for i, c := range r.Contains {
		switch {
		case c.Keys:
			all[i] = askContainsKey
		case c.Key == nil:
			all[i] = askContains
		}
	}
	return all
}

// servedBy reports whether an index serves a restriction of a column in part.
func (r *Restriction) servedBy(x *schema.Index, c *schema.Column) bool {
	return slices.ContainsFunc(r.asks(), func(what asked) bool { return serves(x, c, what) })
}

// served reports whether one of some indexes serves something of a restriction.
func (r *Restriction) served(by []*schema.Index) bool {
	return slices.ContainsFunc(r.Columns, func(c *schema.Column) bool {
		return slices.ContainsFunc(by, func(x *schema.Index) bool { return r.servedBy(x, c) })
	})
}

// needsFiltering reports whether a restriction is not served by a group of indexes that are used together. One of the
// first kind can look for one element only.
func (r *Restriction) needsFiltering(group []*schema.Index) bool {
	for _, c := range r.Columns {
		if !slices.ContainsFunc(group, func(x *schema.Index) bool {
			return r.servedBy(x, c) && !(len(r.Contains) > 1 && x.Kind() == schema.LegacyIndex)
		}) {
			return true
		}
	}
	return false
}

// served reports whether an index serves one of the restrictions.
func (set restrictionSet) served(by []*schema.Index) bool {
	return slices.ContainsFunc(set, func(r *Restriction) bool { return r.served(by) })
}

// indexGroups are the indexes of a table that are used together: the storage-attached ones are, others are not.
func indexGroups(t *schema.Table) [][]*schema.Index {
	var groups [][]*schema.Index
	var sai []*schema.Index
	for _, x := range t.Indexes {
		if x.Kind() == schema.SAI {
			sai = append(sai, x)
		} else {
			groups = append(groups, []*schema.Index{x})
		}
	}
	if len(sai) > 0 {
		groups = append(groups, sai)
	}
	return groups
}

// useIndexes sets the index that compares values for a filter. SSTable-attached indexes are preferred, then indexes of
// the first kind. One of these finds the rows: in Cassandra any, here that of the first filter. useIndexes also
// marks filters that find nothing beside SAI indexes.
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

// CheckCustom refuses expr(index, value): no index here has such expressions.
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
