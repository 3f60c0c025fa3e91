package exec

import (
	"bytes"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store"
)

// Work is what an execution touches. A nil Work takes nothing.
type Work struct {
	Keys       []WorkKey // partitions that are read by their keys or written to, the first ones
	Rows       int       // read, also those that filters leave out
	Tombstones int       // read, as store.TombstonesRead counts them
	Scanned    bool      // partitions were read that no key names
}

// WorkKey is a partition.
type WorkKey struct {
	Table *schema.Table
	Key   []byte // serialized
}

// maxWorkKeys is how many keys of an execution are kept.
const maxWorkKeys = 100

// hit takes a partition. A decision may come to it more than once.
func (w *Work) hit(t *schema.Table, key []byte) {
	if w == nil || len(w.Keys) == maxWorkKeys {
		return
	}
	for _, k := range w.Keys {
		if k.Table == t && bytes.Equal(k.Key, key) {
			return
		}
	}
	w.Keys = append(w.Keys, WorkKey{t, bytes.Clone(key)})
}

// read takes what is about to be read.
func (w *Work) read(r *store.Read) {
	if w == nil {
		return
	}
	w.Scanned = w.Scanned || r.Keys == nil
	for _, key := range r.Keys {
		w.hit(r.Table, key)
	}
}

// counting counts the rows that are given to a function.
func (w *Work) counting(fn func(*store.Row) (bool, error)) func(*store.Row) (bool, error) {
	return func(row *store.Row) (bool, error) {
		w.Rows++
		return fn(row)
	}
}
