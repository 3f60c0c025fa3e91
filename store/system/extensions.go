package system

import (
	"bytes"
	"maps"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// extensions writes what tools keep with a table.
func (w *writer) extensions(given map[string][]byte) {
	var keys, values [][]byte
	for _, name := range slices.Sorted(maps.Keys(given)) {
		keys, values = append(keys, types.EncodeText(name)), append(values, given[name])
	}
	w.set("extensions", types.NewMap(w.table.Column("extensions").Type.(*types.Map), keys, values))
}

// extensionsWriter takes what UPDATE sets in a row of system_schema.tables or views: the extensions. No WITH clause
// sets these, so tools that keep something with a table write there.
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

// readExtensions reads a map of texts and blobs.
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
