package system

import (
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// paxosIndex is the index that a table of every node of Cassandra's has.
var paxosIndex = &schema.Index{
	Name: "PaxosUncommittedIndex", Class: "org.apache.cassandra.service.paxos.uncommitted.PaxosUncommittedIndex",
}

// fillIndexes makes system_schema.indexes.
func fillIndexes(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachIndexed(w, c, func(t *schema.Table, x *schema.Index) {
		w.row(types.EncodeText(t.Name), types.EncodeText(x.Name))
		if x.Class == "" {
			w.text("kind", "COMPOSITES")
		} else {
			w.text("kind", "CUSTOM")
		}
		w.mapping("options", x.AllOptions())
	})
}

// fillIndexInfo makes system."IndexInfo": the indexes that are built, which is all of them. Its first column has
// the keyspace.
func fillIndexInfo(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachIndexed(w, c, func(_ *schema.Table, x *schema.Index) {
		if x != paxosIndex {
			w.row(types.EncodeText(x.Name))
		}
	})
}

// eachIndexed starts a partition for each keyspace that has indexes.
func eachIndexed(w *writer, c *schema.Catalog, fn func(*schema.Table, *schema.Index)) {
	for _, k := range c.Keyspaces() {
		started := false
		for _, t := range k.Tables {
			for _, x := range t.Indexes {
				if !started {
					w.partition(types.EncodeText(k.Name))
					started = true
				}
				fn(t, x)
			}
		}
	}
}
