package system

import (
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

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

// fillColumnMasks makes system_schema.column_masks.
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
