package schema

import (
	"cmp"
	"crypto/md5"
	"maps"
	"slices"
	"strconv"
	"strings"

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
// does not tell datacenters apart. Nobody changes it.
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
		full, _, _ := strings.Cut(value, "/") // behind the slash stand transient ones
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
	e := encoder{}
	e.keyspace(&own)
	writeSections(&e, keyspaceSections, &own)
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

// IsLocal reports whether a keyspace is one of those that nobody may change in any way: Cassandra's local
// and virtual ones, and ControlKeyspace.
func IsLocal(keyspace string) bool {
	switch keyspace {
	case "system", "system_schema", "system_views", "system_virtual_schema", ControlKeyspace:
		return true
	}
	return false
}

// IsServers reports whether the server alone writes the rows of a table: those of local keyspaces, and the table of
// system_distributed that tells which views are built.
func IsServers(t *Table) bool {
	return IsLocal(t.Keyspace) || t.Keyspace == "system_distributed" && t.Name == "view_build_status"
}

// IsReplicatedSystem reports whether a keyspace is one of Cassandra's replicated ones: their tables are
// ordinary tables that nobody may create, alter or drop.
func IsReplicatedSystem(keyspace string) bool {
	switch keyspace {
	case "system_auth", "system_distributed", "system_traces":
		return true
	}
	return false
}

// IsSystem reports whether a keyspace comes with the server.
func IsSystem(keyspace string) bool { return IsLocal(keyspace) || IsReplicatedSystem(keyspace) }
