package system

import (
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// fillIndexes makes system_schema.indexes. Every node of Cassandra's has an index of its own.
func fillIndexes(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	w.partition(types.EncodeText("system"))
	w.row(types.EncodeText("paxos"), types.EncodeText("PaxosUncommittedIndex"))
	w.text("kind", "CUSTOM")
	w.mapping("options", map[string]string{
		"class_name": "org.apache.cassandra.service.paxos.uncommitted.PaxosUncommittedIndex",
		"target":     "",
	})
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

// fillIndexInfo makes system."IndexInfo": the indexes that are built, which all are. Its first column has keyspaces.
func fillIndexInfo(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachIndexed(w, c, func(_ *schema.Table, x *schema.Index) { w.row(types.EncodeText(x.Name)) })
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
