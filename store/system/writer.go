package system

import (
	"bytes"
	"maps"
	"net/netip"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// writer makes the rows of a table: partition, then row, then set for each cell.
type writer struct {
	table     *schema.Table
	timestamp int64
	mutations []*store.Mutation
	current   *store.Mutation
}

// partition starts the partition of a key that is one column.
func (w *writer) partition(key []byte) {
	w.current = store.NewMutation(w.table, key)
	w.mutations = append(w.mutations, w.current)
}

func (w *writer) row(clustering ...[]byte) {
	w.current.Row(clustering)
	w.current.Mark(w.timestamp, store.Expiry{})
}

// set writes a cell of the row; nil leaves it null.
func (w *writer) set(column string, value []byte) {
	if value != nil {
		w.current.Set(w.table.Column(column), value, w.timestamp, store.Expiry{})
	}
}

func (w *writer) text(column, value string) { w.set(column, types.EncodeText(value)) }

// textOrNull writes a text that is null when empty.
func (w *writer) textOrNull(column, value string) {
	if value != "" {
		w.text(column, value)
	}
}

func (w *writer) int(column string, value int)        { w.set(column, types.EncodeInt(int32(value))) }
func (w *writer) bigint(column string, value int64)   { w.set(column, types.EncodeBigInt(value)) }
func (w *writer) bool(column string, value bool)      { w.set(column, types.EncodeBoolean(value)) }
func (w *writer) double(column string, value float64) { w.set(column, types.EncodeDouble(value)) }
func (w *writer) uuid(column string, value [16]byte)  { w.set(column, value[:]) }
func (w *writer) inet(column string, a netip.Addr)    { w.set(column, a.AsSlice()) }

// mapping writes a map of texts, an empty one too.
func (w *writer) mapping(column string, m map[string]string) {
	keys, values := make([][]byte, 0, len(m)), make([][]byte, 0, len(m))
	for k, v := range m {
		keys, values = append(keys, types.EncodeText(k)), append(values, types.EncodeText(v))
	}
	w.set(column, types.NewMap(w.table.Column(column).Type.(*types.Map), keys, values))
}

func (w *writer) texts(column string, elems ...string) {
	values := make([][]byte, len(elems))
	for i, e := range elems {
		values[i] = types.EncodeText(e)
	}
	w.set(column, types.NewSet(w.table.Column(column).Type.(*types.Set), values))
}

func (w *writer) extensions(given map[string][]byte) {
	var keys, values [][]byte
	for _, name := range slices.Sorted(maps.Keys(given)) {
		keys, values = append(keys, types.EncodeText(name)), append(values, given[name])
	}
	w.set("extensions", types.NewMap(w.table.Column("extensions").Type.(*types.Map), keys, values))
}

// extensionsWriter receives UPDATEs of the extensions in a row of system_schema.tables or views. No WITH clause sets
// these, so tools that store something with a table write there.
type extensionsWriter struct {
	store *store.Store
	rows  *schema.Table // the table that is written to
}

// Write implements store.VirtualWriter.
func (w extensionsWriter) Write(key []byte, values map[string][]byte) error {
	keyspace, name := string(key), string(values[w.rows.Clustering[0].Name])
	return w.store.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
		t := w.find(c, keyspace, name)
		if t == nil {
			return nil, cqlerr.Invalidf("There is no table or view %s.%s that could have extensions", keyspace, name)
		}
		changed := *t
		changed.Options.Extensions = readExtensions(values[w.rows.Settable])
		return c.WithTable(schema.NewTable(changed)), nil
	})
}

// find returns the table or view whose row it is; nil: there is none that may be changed.
func (w extensionsWriter) find(c *schema.Catalog, keyspace, name string) *schema.Table {
	if schema.IsSystem(keyspace) {
		return nil
	}
	if t := c.Table(keyspace, name); t != nil && (t.View != nil) == (w.rows.Name == "views") {
		return t
	}
	return nil
}

func readExtensions(value []byte) map[string][]byte {
	extensions := map[string][]byte{}
	for name, content := range types.Entries(value) {
		extensions[string(name)] = bytes.Clone(content)
	}
	return extensions
}

// Delete implements store.VirtualWriter. The planner refuses it.
func (w extensionsWriter) Delete([]byte) error { return w.refused() }

// Truncate implements store.VirtualWriter. The planner refuses it.
func (w extensionsWriter) Truncate() error { return w.refused() }

func (w extensionsWriter) refused() error {
	return cqlerr.Unauthorizedf("%s keyspace is not user-modifiable.", w.rows.Keyspace)
}
