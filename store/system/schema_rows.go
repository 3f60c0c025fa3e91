package system

import (
	"math"
	"strconv"

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

func fillKeyspaces(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, false, func(k *schema.Keyspace) {
		w.row()
		w.bool("durable_writes", k.DurableWrites)
		w.mapping("replication", k.Replication)
	})
}

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

func fillColumns(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, false, func(k *schema.Keyspace) { columnRows(w, k) })
}

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

func fillVirtualKeyspaces(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, true, func(*schema.Keyspace) { w.row() })
}

func fillVirtualTables(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, true, func(k *schema.Keyspace) {
		for _, t := range k.Tables {
			w.row(types.EncodeText(t.Name))
			w.text("comment", t.Options.Comment)
		}
	})
}

func fillVirtualColumns(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, true, func(k *schema.Keyspace) { columnRows(w, k) })
}

func fillFunctions(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, false, func(k *schema.Keyspace) {
		for _, f := range k.Functions {
			names := make([][]byte, len(f.ArgNames))
			for i, n := range f.ArgNames {
				names[i] = types.EncodeText(n)
			}
			w.row(types.EncodeText(f.Name), typeNames(f.Args))
			w.set("argument_names", types.NewList(names))
			w.text("body", f.Body)
			w.bool("called_on_null_input", f.CalledOnNull)
			w.text("language", f.Language)
			w.text("return_type", f.Returns.String())
		}
	})
}

func fillAggregates(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, false, func(k *schema.Keyspace) {
		for _, a := range k.Aggregates {
			w.row(types.EncodeText(a.Name), typeNames(a.Args))
			w.textOrNull("final_func", a.FinalFunction)
			if a.Initial != nil {
				w.text("initcond", a.StateType.Format(a.Initial))
			}
			w.text("return_type", a.Returns.String())
			w.text("state_func", a.StateFunction)
			w.text("state_type", a.StateType.String())
		}
	})
}

func typeNames(all []types.Type) []byte {
	names := make([][]byte, len(all))
	for i, t := range all {
		names[i] = types.EncodeText(t.String())
	}
	return types.NewList(names)
}

// paxosIndex is the index that a table of every node of Cassandra's has.
var paxosIndex = &schema.Index{
	Name: "PaxosUncommittedIndex", Class: "org.apache.cassandra.service.paxos.uncommitted.PaxosUncommittedIndex",
}

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

// droppedForEver is the time, in milliseconds, at which every Cassandra node has dropped one of its own columns:
// the last one in microseconds.
const droppedForEver = 9223372036854775

// fillDroppedColumns makes system_schema.dropped_columns, with the one row that every node of Cassandra's has.
func fillDroppedColumns(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, false, func(k *schema.Keyspace) {
		if k.Name == "system" {
			droppedRow(w, "local", "thrift_version", droppedForEver, "regular", "text")
		}
		for _, t := range k.Tables {
			for _, d := range t.Dropped {
				droppedRow(w, t.Name, d.Name, d.Time/1000, d.Kind.String(), d.Type.String())
			}
		}
	})
}

// droppedRow writes a column that was dropped at a time in milliseconds.
func droppedRow(w *writer, table, column string, at int64, kind, typ string) {
	w.row(types.EncodeText(table), types.EncodeText(column))
	w.set("dropped_time", types.EncodeBigInt(at))
	w.text("kind", kind)
	w.text("type", typ)
}

func fillColumnMasks(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, false, func(k *schema.Keyspace) {
		for _, t := range k.Tables {
			t.EachMask(func(c *schema.Column) {
				var nulls, names, values [][]byte
				for _, a := range c.Mask.Args {
					nulls = append(nulls, types.EncodeBoolean(a.Value == nil))
					names = append(names, types.EncodeText(a.Type.String()))
					values = append(values, types.EncodeText(a.Text()))
				}
				w.row(types.EncodeText(t.Name), types.EncodeText(c.Name))
				w.set("function_argument_nulls", types.NewList(nulls))
				w.set("function_argument_types", types.NewList(names))
				w.set("function_argument_values", types.NewList(values))
				w.text("function_keyspace", c.Mask.Keyspace)
				w.text("function_name", c.Mask.Function)
			})
		}
	})
}

func fillViews(_ *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, false, func(k *schema.Keyspace) {
		for _, t := range k.Views {
			w.row(types.EncodeText(t.Name))
			w.uuid("base_table_id", t.View.BaseID)
			w.text("base_table_name", t.View.Base)
			w.uuid("id", t.ID)
			w.bool("include_all_columns", t.View.All)
			w.text("where_clause", t.View.WhereText())
			fillOptions(w, &t.Options)
		}
	})
}

// fillBuiltViews makes system.built_views: the views with all rows.
func fillBuiltViews(n *node, w *writer, _ store.Session, c *schema.Catalog) {
	eachKeyspace(w, c, false, func(k *schema.Keyspace) {
		for name, view := range k.Views {
			if n.viewBuilt(view) {
				w.row(types.EncodeText(name))
				w.bool("status_replicated", true)
			}
		}
	})
}

// fillViewBuilds makes system.view_builds_in_progress: the view that is being built, as one range of all tokens.
func fillViewBuilds(n *node, w *writer, _ store.Session, _ *schema.Catalog) {
	b := n.build()
	if b == nil || b.View == nil {
		return
	}
	first := strconv.FormatInt(math.MinInt64, 10)
	w.partition(types.EncodeText(b.View.Keyspace))
	w.row(types.EncodeText(b.View.Name), types.EncodeText(first), types.EncodeText(first))
	w.bigint("keys_built", b.Rows)
	w.text("last_token", strconv.FormatInt(b.Token, 10))
}

func fillViewBuildStatus(n *node, w *writer, session store.Session, c *schema.Catalog) {
	for _, k := range c.Keyspaces() {
		for name, view := range k.Views {
			status := "STARTED"
			if n.viewBuilt(view) {
				status = "SUCCESS"
			}
			key := types.AppendCompositeKey(nil, types.EncodeText(k.Name))
			w.partition(types.AppendCompositeKey(key, types.EncodeText(name)))
			for _, on := range append(n.peers(session), n.self(session)) {
				w.row(on.HostID[:])
				w.text("status", status)
			}
		}
	}
}
