package system

import (
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// eachKeyspace starts a partition for each keyspace that is virtual, or for each that is not.
func eachKeyspace(w *writer, c *schema.Catalog, virtual bool, fn func(*schema.Keyspace)) {
	for _, k := range c.Keyspaces() {
		if k.Virtual == virtual {
			w.partition(types.EncodeText(k.Name))
			fn(k)
		}
	}
}

// fillKeyspaces makes system_schema.keyspaces.
func fillKeyspaces(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, false, func(k *schema.Keyspace) {
		w.row()
		w.bool("durable_writes", k.DurableWrites)
		w.mapping("replication", k.Replication)
	})
}

// fillTables makes system_schema.tables.
func fillTables(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, false, func(k *schema.Keyspace) {
		for _, t := range k.Tables {
			w.row(types.EncodeText(t.Name))
			w.uuid("id", t.ID)
			w.texts("flags", t.Flags()...)
			fillOptions(w, &t.Options)
		}
	})
}

// fillOptions writes the options of a table. Cassandra leaves some null when they are as by default, cdc
// always while the node does not do it, and columns of options that are gone zero.
func fillOptions(w *writer, o *schema.TableOptions) {
	w.text("additional_write_policy", o.AdditionalWritePolicy)
	if !o.AllowAutoSnapshot {
		w.bool("allow_auto_snapshot", false)
	}
	w.double("bloom_filter_fp_chance", o.BloomFilterFPChance)
	w.mapping("caching", o.Caching)
	w.text("comment", o.Comment)
	w.mapping("compaction", o.Compaction)
	w.mapping("compression", o.Compression)
	w.double("crc_check_chance", o.CRCCheckChance)
	w.double("dclocal_read_repair_chance", 0)
	w.int("default_time_to_live", o.DefaultTimeToLive)
	w.extensions(o.Extensions)
	w.int("gc_grace_seconds", o.GCGraceSeconds)
	if !o.IncrementalBackups {
		w.bool("incremental_backups", false)
	}
	w.int("max_index_interval", o.MaxIndexInterval)
	w.int("memtable_flush_period_in_ms", o.MemtableFlushPeriodInMs)
	w.int("min_index_interval", o.MinIndexInterval)
	w.text("read_repair", o.ReadRepair)
	w.double("read_repair_chance", 0)
	w.text("speculative_retry", o.SpeculativeRetry)
}

// fillColumns makes system_schema.columns.
func fillColumns(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, false, func(k *schema.Keyspace) { columnRows(w, k) })
}

// columnRows writes the columns of a keyspace's tables and views.
func columnRows(w *writer, k *schema.Keyspace) {
	for _, t := range k.TablesAndViews() {
		for _, c := range t.Columns {
			w.row(types.EncodeText(t.Name), types.EncodeText(c.Name))
			w.text("clustering_order", clusteringOrder(c))
			w.set("column_name_bytes", []byte(c.Name))
			w.text("kind", c.Kind.String())
			if c.Kind.IsKey() {
				w.int("position", c.Position)
			} else {
				w.int("position", -1)
			}
			w.text("type", c.Type.String())
		}
	}
}

// fillTypes makes system_schema.types.
func fillTypes(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, false, func(k *schema.Keyspace) {
		for _, t := range k.Types {
			names, fields := make([][]byte, len(t.Fields)), make([][]byte, len(t.Fields))
			for i, f := range t.Fields {
				names[i], fields[i] = types.EncodeText(f.Name), types.EncodeText(f.Type.String())
			}
			w.row(types.EncodeText(t.Name))
			w.set("field_names", types.NewList(names))
			w.set("field_types", types.NewList(fields))
		}
	})
}

func clusteringOrder(c *schema.Column) string {
	switch {
	case c.Kind != schema.Clustering:
		return "none"
	case c.Desc:
		return "desc"
	}
	return "asc"
}

// fillVirtualKeyspaces makes system_virtual_schema.keyspaces.
func fillVirtualKeyspaces(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, true, func(*schema.Keyspace) { w.row() })
}

// fillVirtualTables makes system_virtual_schema.tables.
func fillVirtualTables(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, true, func(k *schema.Keyspace) {
		for _, t := range k.Tables {
			w.row(types.EncodeText(t.Name))
			w.text("comment", t.Options.Comment)
		}
	})
}

// fillVirtualColumns makes system_virtual_schema.columns.
func fillVirtualColumns(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, true, func(k *schema.Keyspace) { columnRows(w, k) })
}
