// Package schema has the definitions of keyspaces, tables with their indexes, views, user types, users' functions
// and options as immutable values.
//
// A Catalog is one snapshot of everything that is defined. The With and Without methods return another snapshot; a
// statement that was planned on the old one also finishes on the old one. The store persists snapshots as Records,
// the planner reads them, and store/system shows them as system_schema.
//
// Start with Catalog, then Keyspace, Table and Column. Options as clients write them are Properties:
// ParseKeyspaceOptions and ParseTableOptions read them, in Cassandra's words when they are wrong. Keyspace
// and Table print themselves as DESCRIBE shows them.
package schema

import (
	"crypto/md5"
	"maps"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// emptyVersion is the version of a catalog without user keyspaces: d03783d7-b468-3c1a-82f1-8e30b2edde8b, as Cassandra
// 5.0.8 shows for an empty schema.
var emptyVersion = [16]byte{
	0xd0, 0x37, 0x83, 0xd7, 0xb4, 0x68, 0x3c, 0x1a, 0x82, 0xf1, 0x8e, 0x30, 0xb2, 0xed, 0xde, 0x8b,
}

// Catalog is one snapshot of all definitions. The zero value is not usable; start with New.
type Catalog struct {
	keyspaces map[string]*Keyspace
	content   digest // of the user keyspaces: each one's, combined
	version   [16]byte
}

// New returns a catalog that has only the keyspaces given, which are not users' and do not count in the
// version: those for which IsSystem holds.
func New(system ...*Keyspace) *Catalog {
	c := &Catalog{keyspaces: make(map[string]*Keyspace, len(system)), version: emptyVersion}
	for _, k := range system {
		c.keyspaces[k.Name] = k.counted()
	}
	return c
}

// Keyspace returns the keyspace of that name, or nil.
func (c *Catalog) Keyspace(name string) *Keyspace { return c.keyspaces[name] }

// Table returns a table or a view, or nil if it or its keyspace does not exist.
func (c *Catalog) Table(keyspace, name string) *Table {
	if k := c.keyspaces[keyspace]; k != nil {
		return k.tableOrView(name)
	}
	return nil
}

// TableByID returns the table or view that clients know by that id, or nil. It looks at all tables.
func (c *Catalog) TableByID(id [16]byte) *Table {
	for _, k := range c.keyspaces {
		for _, t := range k.TablesAndViews() {
			if t.ID == id {
				return t
			}
		}
	}
	return nil
}

// CheckTableID refuses to add a table under the id of another one.
func (c *Catalog) CheckTableID(t *Table) error {
	other := c.TableByID(t.ID)
	if other == nil {
		return nil
	}
	id := formatUUID(t.ID)
	return cqlerr.Configf("The id %s of table %s.%s is that of table %s.%s already",
		id, t.Keyspace, t.Name, other.Keyspace, other.Name)
}

// Keyspaces returns all keyspaces, system ones too, by name.
func (c *Catalog) Keyspaces() []*Keyspace {
	return slices.SortedFunc(maps.Values(c.keyspaces), func(a, b *Keyspace) int {
		return strings.Compare(a.Name, b.Name)
	})
}

// Version names the content of the user keyspaces: an MD5 UUID that is equal for equal content, whatever led to it.
// StoreID, which only the store uses, does not count.
func (c *Catalog) Version() [16]byte { return c.version }

// WithKeyspace returns a catalog in which k is defined, in place of a keyspace of the same name.
func (c *Catalog) WithKeyspace(k *Keyspace) *Catalog { return c.replace(k.Name, k.counted()) }

// WithoutKeyspace returns a catalog without that keyspace and all in it.
func (c *Catalog) WithoutKeyspace(name string) *Catalog { return c.replace(name, nil) }

// WithTable returns a catalog in which t, a table or a view, is defined, in place of one of the same name. Its
// keyspace must exist.
func (c *Catalog) WithTable(t *Table) *Catalog {
	k := *c.keyspaces[t.Keyspace]
	if t.View != nil {
		k.Views = withEntry(k.Views, t.Name, t)
	} else {
		k.Tables = withEntry(k.Tables, t.Name, t)
	}
	return c.replace(k.Name, &k)
}

// WithoutTable returns a catalog without that table or view.
func (c *Catalog) WithoutTable(keyspace, name string) *Catalog {
	t := c.Table(keyspace, name)
	if t == nil {
		return c
	}
	k := *c.keyspaces[keyspace]
	if t.View != nil {
		k.Views = withEntry(k.Views, name, nil)
	} else {
		k.Tables = withEntry(k.Tables, name, nil)
	}
	return c.replace(keyspace, &k)
}

// replace puts k, or nothing if it is nil, where the keyspace of that name was.
func (c *Catalog) replace(name string, k *Keyspace) *Catalog {
	n := &Catalog{keyspaces: withEntry(c.keyspaces, name, k), content: c.content}
	if old := c.keyspaces[name]; old != nil {
		n.content = n.content.xor(old.contentDigest())
	}
	if k != nil {
		n.content = n.content.xor(k.contentDigest())
	}
	n.version = n.content.version()
	return n
}

// withEntry copies m with the entry of key set to v, or taken out if v is nil.
func withEntry[V any](m map[string]*V, key string, v *V) map[string]*V {
	n := make(map[string]*V, len(m)+1)
	maps.Copy(n, m)
	if v == nil {
		delete(n, key)
	} else {
		n[key] = v
	}
	return n
}

// digest is a digest of a set of definitions. Digests of disjoint sets are combined by xor, so that a change costs
// only the work for the objects it touches.
type digest [md5.Size]byte

func (d digest) xor(o digest) digest {
	for i := range d {
		d[i] ^= o[i]
	}
	return d
}

// version makes the digest of everything a name-based UUID.
func (d digest) version() [16]byte {
	if d == (digest{}) {
		return emptyVersion
	}
	v := [16]byte(d)
	v[6] = v[6]&0x0f | 0x30
	v[8] = v[8]&0x3f | 0x80
	return v
}
