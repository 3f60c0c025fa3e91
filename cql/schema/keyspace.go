package schema

import (
	"cmp"
	"crypto/md5"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
)

// Keyspace is a keyspace's definition with its tables and types. It never changes; DDL makes another.
type Keyspace struct {
	Name          string
	DurableWrites bool
	Replication   map[string]string // with the full class name under "class"
	Virtual       bool              // its tables are virtual
	Tables        map[string]*Table
	Types         map[string]*types.UserType // not frozen
	Functions     []*Function                // in the order in which they were made
	Aggregates    []*Aggregate               // likewise
	Views         map[string]*Table          // the materialized views

	// The replicas are derived from Replication when the keyspace joins a catalog.
	replicas     int
	byDatacenter map[string]int // nil: they are not counted by datacenter
}

// Replicas is how many replicas a keyspace of a catalog asks for, in all datacenters together. Every read
// and write compares it with its consistency level.
func (k *Keyspace) Replicas() int { return k.replicas }

// ByDatacenter is how many replicas a keyspace of a catalog asks for in each datacenter. It is nil where the strategy
// does not distinguish datacenters. Callers do not change it.
func (k *Keyspace) ByDatacenter() map[string]int { return k.byDatacenter }

// counted is the keyspace with its replicas counted.
func (k *Keyspace) counted() *Keyspace {
	own := *k
	own.replicas = 1
	if k.Virtual || strings.HasSuffix(k.Replication["class"], "LocalStrategy") {
		return &own
	}
	own.replicas = 0
	if strings.HasSuffix(k.Replication["class"], "NetworkTopologyStrategy") {
		own.byDatacenter = make(map[string]int)
	}
	for option, value := range k.Replication {
		full, _, _ := strings.Cut(value, "/") // transient replicas come after the slash
		if n, err := strconv.Atoi(full); err == nil && option != "class" {
			own.replicas += n
			if own.byDatacenter != nil {
				own.byDatacenter[option] = n
			}
		}
	}
	return &own
}

// SortedTables returns the tables by name.
func (k *Keyspace) SortedTables() []*Table {
	return slices.SortedFunc(maps.Values(k.Tables), func(a, b *Table) int {
		return strings.Compare(a.Name, b.Name)
	})
}

// TablesByAge returns the tables in the order in which they were made or truncated.
func (k *Keyspace) TablesByAge() []*Table {
	return slices.SortedFunc(maps.Values(k.Tables), func(a, b *Table) int {
		return cmp.Or(cmp.Compare(a.StoreID, b.StoreID), strings.Compare(a.Name, b.Name))
	})
}

// UnnumberedTables returns the tables by name that the store has not given a number.
func (k *Keyspace) UnnumberedTables() []*Table {
	var tables []*Table
	for _, t := range k.Tables {
		if t.StoreID == 0 {
			tables = append(tables, t)
		}
	}
	slices.SortFunc(tables, func(a, b *Table) int { return strings.Compare(a.Name, b.Name) })
	return tables
}

// contentDigest is the digest of the keyspace, its tables and types, zero for a system keyspace.
func (k *Keyspace) contentDigest() digest {
	if IsSystem(k.Name) {
		return digest{}
	}
	own := *k
	own.Functions, own.Aggregates = sortedCallables(k.Functions), sortedCallables(k.Aggregates)
	e := coder{}
	e.keyspace(&own)
	sections(&e, keyspaceSections, &own)
	d := digest(md5.Sum(e.b))
	for _, t := range k.Tables {
		d = d.xor(t.digest)
	}
	for _, u := range k.Types {
		d = d.xor(md5.Sum([]byte(types.ExactClassName(u))))
	}
	return d
}

// ControlKeyspace is the keyspace of tables that control a server for tests. It exists only where that is allowed, and
// its name is reserved everywhere.
const ControlKeyspace = "cqld_control"

// IsLocal reports whether clients may not change a keyspace in any way: Cassandra's local and virtual ones, and
// ControlKeyspace.
func IsLocal(keyspace string) bool {
	switch keyspace {
	case "system", "system_schema", "system_views", "system_virtual_schema", ControlKeyspace:
		return true
	}
	return false
}

// IsServers reports whether the server alone writes the rows of a table: the tables of local keyspaces, and the table
// of built views in system_distributed.
func IsServers(t *Table) bool {
	return IsLocal(t.Keyspace) || t.Keyspace == "system_distributed" && t.Name == "view_build_status"
}

// IsReplicatedSystem reports whether a keyspace is one of Cassandra's replicated ones: their tables are ordinary
// tables that clients may not create, alter or drop.
func IsReplicatedSystem(keyspace string) bool {
	switch keyspace {
	case "system_auth", "system_distributed", "system_traces":
		return true
	}
	return false
}

// IsSystem reports whether a keyspace comes with the server.
func IsSystem(keyspace string) bool { return IsLocal(keyspace) || IsReplicatedSystem(keyspace) }

// The longest names of keyspaces and tables: Cassandra makes file names of them.
const (
	maxKeyspaceName = 48
	maxTableName    = 222
)

// wordName matches valid names of keyspaces and tables.
var wordName = regexp.MustCompile(`^\w+$`)

// CheckKeyspaceName refuses a name that no keyspace may have, or that only the server's own have.
func CheckKeyspaceName(name string) error {
	if !wordName.MatchString(name) {
		return cqlerr.Invalidf("Keyspace name must not be empty and must contain alphanumeric or underscore "+
			`characters only (got "%s")`, name)
	}
	if len(name) > maxKeyspaceName {
		return cqlerr.Invalidf("Keyspace name must not be more than %d characters long (got %d characters for "+
			`"%s")`, maxKeyspaceName, len(name), name)
	}
	if IsLocal(strings.ToLower(name)) {
		return cqlerr.Invalidf("System keyspace '%s' is not user-modifiable", name)
	}
	return nil
}

// CheckTableName refuses a name that no table may have.
func CheckTableName(keyspace, name string) error {
	if !wordName.MatchString(name) {
		return cqlerr.Configf("%s.%s: Table name must not be empty or not contain non-alphanumeric-underscore "+
			`characters (got "%s")`, keyspace, name, name)
	}
	if len(name) > maxTableName {
		return cqlerr.Configf("%s.%s: Table name must not be more than %d characters long (got %d characters for "+
			`"%s")`, keyspace, name, maxTableName, len(name), name)
	}
	return nil
}

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
	k.Tables, k.Views = maps.Clone(k.Tables), maps.Clone(k.Views)
	for _, all := range []map[string]*Table{k.Tables, k.Views} {
		for name, t := range all {
			all[name] = t.withUserType(u)
		}
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
	return NewTable(t.withColumns(func(c *Column) { c.Type = types.WithUserType(c.Type, u) }))
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

// TypesByUse returns the types by name, but each after the types that it is made of.
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
