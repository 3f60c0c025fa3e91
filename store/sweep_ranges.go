package store

import (
	"bytes"
	"context"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// purgeDeletions removes the tombstones of partitions and ranges that were old enough when the sweep began: the rows
// have been gone through since, and there is nothing left that they hide. Ranges inside others that reach further go
// as well. What is left is what the index of deletions knows from here on.
func (w *sweep) purgeDeletions(ctx context.Context) error {
	c, err := w.store.deletions.collect(ctx, w.id)
	if err != nil || c == nil {
		return err
	}
	defer c.abandon()
	w.position = appendArea(w.position[:0], w.id, areaDeletions)
	for more := true; more; {
		began := time.Now()
		var gone [][]byte
		if gone, more, err = w.goneDeletions(c); err != nil {
			return err
		}
		for len(gone) > 0 {
			n := min(len(gone), purgeAtOnce)
			if err := w.removeDeletions(ctx, gone[:n], c); err != nil {
				return err
			}
			gone = gone[n:]
		}
		if err := w.rest(ctx, time.Since(began)); err != nil {
			return err
		}
	}
	c.finish()
	return nil
}

// purgeAtOnce is how many keys are purged by one update.
const purgeAtOnce = 128

// goneDeletions goes through some partitions, from position on, and returns the keys of their tombstones that may go. The
// others are counted and collected.
func (w *sweep) goneDeletions(c *collection) (gone [][]byte, more bool, err error) {
	seen := 0
	err = w.store.engine.View(func(src engine.Reader) error {
		w.cursor.begin(src, w.id, w.position, nil)
		defer w.cursor.finish()
		for seen < chunkRows {
			key, _, err := w.cursor.peek()
			if err != nil || key == nil {
				return err
			}
			if w.prefix, err = appendPrefix(w.prefix[:0], key); err != nil {
				return err
			}
			if err := w.cursor.load(&w.deletions, w.prefix); err != nil {
				return err
			}
			d := &w.deletions
			if t := d.partition; t.ts != noTime {
				seen++
				if w.purger.due(t.second) {
					gone = append(gone, bytes.Clone(w.prefix))
				} else {
					w.keepDeletion(c, ofPartition, t)
				}
			}
			for i := range d.stored {
				seen++
				if x := &d.stored[i]; w.rangeIsGone(x) {
					gone = append(gone, append(appendEscaped(bytes.Clone(w.prefix), x.start), x.end...))
				} else {
					w.keepDeletion(c, ofRange, x.tombstone)
				}
			}
		}
		more = true
		w.position = append(w.position[:0], w.prefix...)
		setArea(w.position, w.id, areaDeletions)
		w.position = successor(w.position)
		return nil
	})
	for _, key := range gone {
		setArea(key, w.id, areaDeletions)
	}
	return gone, more, err
}

// appendPrefix appends what the keys of rows of a partition begin with that a tombstone is of.
func appendPrefix(dst, key []byte) ([]byte, error) {
	n := prefixLength(key)
	if n < 0 {
		return dst, errKey
	}
	dst = append(dst, key[:n]...)
	dst[areaSize-1] |= areaRows
	return dst, nil
}

// rangeIsGone reports whether the tombstone of a range of the partition at hand may go.
func (w *sweep) rangeIsGone(x *rangeDeletion) bool {
	return w.purger.due(x.second) || !w.deletions.needs(x.start, x.end, x.tombstone)
}

// keepDeletion counts and collects a tombstone of the partition at hand.
func (w *sweep) keepDeletion(c *collection, kind deletionKind, t tombstone) {
	w.census.Tombstones++
	w.due = min(w.due, dueAfter(Expiry{At: t.second}, w.purger.grace, w.purger.now))
	c.add(kind, tokenOf(w.prefix))
}

// removeDeletions removes tombstones that may go, unless they have been written again meanwhile.
func (w *sweep) removeDeletions(ctx context.Context, keys [][]byte, c *collection) error {
	removed := 0
	err := w.store.update(ctx, bytes.Clone(keys[0]), func(txn engine.Txn) error {
		removed = 0
		w.prefix = w.prefix[:0]
		for _, key := range keys {
			gone, err := w.isGone(txn, key)
			if err != nil {
				return err
			}
			if gone {
				removed++
				txn.Delete(key)
			} else {
				c.add(kindOf(key, prefixLength(key)), tokenOf(key))
			}
		}
		return nil
	})
	w.prefix = w.prefix[:0]
	if err == nil {
		w.store.swept.removed.Add(uint64(removed))
	}
	return err
}

// isGone reports whether a tombstone may go as it is now.
func (w *sweep) isGone(txn engine.Txn, key []byte) (gone bool, err error) {
	n := prefixLength(key)
	if n < len(key) && !bytes.Equal(w.prefix, key[:n]) {
		w.prefix = append(w.prefix[:0], key[:n]...)
		w.deletions.none()
		if err := w.deletions.scan(txn, w.prefix); err != nil {
			return false, err
		}
	}
	_, err = txn.Get(key, func(value []byte) error {
		t, err := readTombstone(value)
		gone = w.purger.due(t.second)
		if err != nil || gone || n == len(key) {
			return err
		}
		start, end, err := splitEscaped(nil, key[n:])
		if err == nil {
			gone = !w.deletions.needs(start, end, t)
		}
		return err
	})
	return gone, err
}
