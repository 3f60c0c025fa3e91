package schema

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
)

// Type returns a user type, not frozen, or nil if it or its keyspace does not exist.
func (c *Catalog) Type(keyspace, name string) *types.UserType {
	k := c.keyspaces[keyspace]
	if k == nil {
		return nil
	}
	return k.Types[name]
}

// WithType returns a catalog in which u is defined. In place of a type of the same name it is used wherever that one
// was, in other types, in the columns of tables and in functions. Its keyspace must exist.
func (c *Catalog) WithType(u *types.UserType) *Catalog {
	k := *c.keyspaces[u.Keyspace]
	k.Types = withEntry(k.Types, u.Name, u)
	for name, t := range k.Types {
		k.Types[name] = types.WithUserType(t, u).(*types.UserType)
	}
	k.Tables = maps.Clone(k.Tables)
	for name, t := range k.Tables {
		k.Tables[name] = t.withUserType(u)
	}
	k.Views = maps.Clone(k.Views)
	for name, t := range k.Views {
		k.Views[name] = t.withUserType(u)
	}
	k.Functions, k.Aggregates = slices.Clone(k.Functions), slices.Clone(k.Aggregates)
	for i, f := range k.Functions {
		k.Functions[i] = f.withUserType(u)
	}
	for i, a := range k.Aggregates {
		k.Aggregates[i] = a.withUserType(u)
	}
	return c.replace(k.Name, &k)
}

// WithoutType returns a catalog without that type, which nothing may use.
func (c *Catalog) WithoutType(keyspace, name string) *Catalog {
	if c.Type(keyspace, name) == nil {
		return c
	}
	k := *c.keyspaces[keyspace]
	k.Types = withEntry(k.Types, name, nil)
	return c.replace(keyspace, &k)
}

// UsesType reports whether a column of the table has a type that is, or has inside, a user type of that name.
func (t *Table) UsesType(name string) bool {
	return slices.ContainsFunc(t.Columns, func(c *Column) bool { return types.UsesUserType(c.Type, name) })
}

// withUserType is the table with u in its columns' types, or the same one if they do not use it.
func (t *Table) withUserType(u *types.UserType) *Table {
	if !t.UsesType(u.Name) {
		return t
	}
	spec := *t
	spec.Columns = make([]*Column, len(t.Columns))
	for i, given := range t.Columns {
		c := *given
		c.Type = types.WithUserType(c.Type, u)
		spec.Columns[i] = &c
	}
	return NewTable(spec)
}

// SortedTypes returns the types by name, in Cassandra's order: it compares the bytes of names as signed numbers.
func (k *Keyspace) SortedTypes() []*types.UserType {
	return slices.SortedFunc(maps.Values(k.Types), func(a, b *types.UserType) int {
		for i := range min(len(a.Name), len(b.Name)) {
			if order := cmp.Compare(int8(a.Name[i]), int8(b.Name[i])); order != 0 {
				return order
			}
		}
		return len(a.Name) - len(b.Name)
	})
}

// TypesByUse returns the types by name, but each behind those that it is made of.
func (k *Keyspace) TypesByUse() []*types.UserType {
	var names []string
	for _, t := range k.SortedTypes() {
		names = types.UserTypeNames(names, t)
	}
	var all []*types.UserType
	for _, name := range names {
		if t := k.Types[name]; t != nil { // a vector may have elements of a type that is gone
			all = append(all, t)
		}
	}
	return all
}

// TypeCQL is the statement that makes a user type, as DESCRIBE shows it.
func TypeCQL(t *types.UserType) string {
	fields := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		fields[i] = "    " + quote.Name(f.Name) + " " + f.Type.String()
	}
	return "CREATE TYPE " + quote.Name(t.Keyspace) + "." + quote.Name(t.Name) + " (\n" + strings.Join(fields, ",\n") +
		"\n);"
}
