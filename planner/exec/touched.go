package exec

import (
	"bytes"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store"
)

// Touched is what an execution touches. A nil Touched takes nothing.
type Touched struct {
	Keys       []TouchedKey // partitions that are read by their keys or written to, the first ones
	Rows       int          // read, also those that filters leave out
	Tombstones int          // read, as store.TombstonesRead counts them
	Scanned    bool         // partitions were read that no key names
	Indexed    store.IndexRead
}

// TouchedKey is a partition.
type TouchedKey struct {
	Table *schema.Table
	Key   []byte // serialized
}

// maxTouchedKeys is how many keys of an execution are kept.
const maxTouchedKeys = 100

// hit takes a partition. A decision may come to it more than once.
func (w *Touched) hit(t *schema.Table, key []byte) {
	if w == nil || len(w.Keys) == maxTouchedKeys {
		return
	}
	for _, k := range w.Keys {
		if k.Table == t && bytes.Equal(k.Key, key) {
			return
		}
	}
	w.Keys = append(w.Keys, TouchedKey{t, bytes.Clone(key)})
}

// read takes what is about to be read.
func (w *Touched) read(r *store.Read) {
	if w == nil {
		return
	}
	w.Scanned = w.Scanned || r.Keys == nil
	for _, key := range r.Keys {
		w.hit(r.Table, key)
	}
}

// counting counts the rows that are given to a function.
func (w *Touched) counting(fn func(*store.Row) (bool, error)) func(*store.Row) (bool, error) {
	return func(row *store.Row) (bool, error) {
		w.Rows++
		return fn(row)
	}
}
