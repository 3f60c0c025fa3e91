package store

import (
	"bytes"
	"context"

	"github.com/cqld/cqld/store/engine"
)

// purgeDeletions removes the tombstones of partitions and ranges that were old enough when the sweep began: the rows
// have been gone through since, and there is nothing left that they hide. Ranges inside others that reach further go
// as well.
func (w *sweep) purgeDeletions(ctx context.Context) error {
	start, end := appendArea(nil, w.id, areaDeletions), appendArea(nil, w.id, areaRows)
	for {
		found := false
		err := w.store.engine.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
			found = true
			if len(key) < areaSize+tokenSize {
				return false, errKey
			}
			_, rest, err := splitEscaped(nil, key[areaSize+tokenSize:])
			w.prefix = append(w.prefix[:0], key[:len(key)-len(rest)]...)
			return false, err
		})
		if err != nil || !found {
			return err
		}
		if err := w.purgePartition(ctx); err != nil {
			return err
		}
		setArea(w.prefix, w.id, areaDeletions)
		start = successor(bytes.Clone(w.prefix))
	}
}

// purgePartition removes tombstones of the partition that prefix is of.
func (w *sweep) purgePartition(ctx context.Context) error {
	gone, err := w.goneDeletions(w.store.engine, true)
	if err != nil || len(gone) == 0 {
		return err
	}
	removed := 0
	err = w.store.update(ctx, bytes.Clone(w.prefix), func(txn engine.Txn) error {
		gone, err := w.goneDeletions(txn, false)
		removed = min(len(gone), w.store.limits.CommitOps/2)
		for _, key := range gone[:removed] {
			txn.Delete(key)
		}
		return err
	})
	if err == nil {
		w.store.swept.removed.Add(uint64(removed))
	}
	return err
}

// goneDeletions are the keys of the partition's tombstones that may go. The others are counted, if they are to be.
func (w *sweep) goneDeletions(r engine.Reader, count bool) (gone [][]byte, err error) {
	setArea(w.prefix, w.id, areaRows)
	if err := w.deletions.load(r, w.id, w.prefix); err != nil {
		return nil, err
	}
	err = eachDeletion(r, w.id, w.prefix, func(key, start, end []byte, t tombstone) {
		switch {
		case w.purger.due(t.second) || start != nil && !w.deletions.needs(start, end, t):
			gone = append(gone, bytes.Clone(key))
		case count:
			w.census.Tombstones++
			w.due = min(w.due, dueAfter(Expiry{At: t.second}, w.purger.grace, w.purger.now))
		}
	})
	return gone, err
}
