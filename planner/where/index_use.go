package where

import (
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// asked is what a restriction asks of a column, as far as indexes tell it apart.
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

// partAsked is what indexes of a part of a collection serve.
func partAsked(part schema.IndexPart) asked {
	switch part {
	case schema.IndexValues:
		return askContains
	case schema.IndexKeys:
		return askContainsKey
	}
	return askEqual
}

// saiServes is serves for storage-attached indexes. Text, booleans, UUIDs and what is made of several values have no
// ranges; that descending UUIDs do is Cassandra's slip.
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

// asks are what a restriction asks of its columns.
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

// servedBy reports whether an index serves something of what a restriction asks of a column.
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
