package store

import (
	"bytes"
	"context"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// goneDeletion is a tombstone that may go.
type goneDeletion struct {
	key []byte
	tombstone
}

// purgeDeletions removes the tombstones of partitions and ranges that were old enough when the sweep began: the rows
// have been gone through since, and there is nothing left that they hide. Those that were written since the sweep began
// stay, though a statement that took long may have written them as of a second before. Ranges inside others that reach
// further go as well. What is left is what the index of deletions knows from here on.
func (w *sweep) purgeDeletions(ctx context.Context, c *collection) error {
	w.position = appendArea(w.position[:0], w.id, areaDeletions)
	for more := true; more; {
		began := time.Now()
		var gone []goneDeletion
		var err error
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

// goneDeletions goes through some partitions, from position on, and returns their tombstones that may go. The others are
// counted and collected.
func (w *sweep) goneDeletions(c *collection) (gone []goneDeletion, more bool, err error) {
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
			var n int
			gone, n = w.goneOf(gone, c)
			seen += n
		}
		more = true
		w.position = append(w.position[:0], w.prefix...)
		setArea(w.position, w.id, areaDeletions)
		w.position = successor(w.position)
		return nil
	})
	return gone, more, err
}

// goneOf appends the tombstones of the partition at hand that may go, and returns how many it has.
func (w *sweep) goneOf(gone []goneDeletion, c *collection) (all []goneDeletion, n int) {
	d, token := &w.deletions, tokenOf(w.prefix)
	look := func(kind deletionKind, start, end []byte, t tombstone, may bool) {
		n++
		if !may {
			w.census.Tombstones++
			w.due = min(w.due, dueAfter(Expiry{At: t.second}, w.purger.grace, w.purger.now))
			c.add(kind, token)
			return
		}
		key := bytes.Clone(w.prefix)
		setArea(key, w.id, areaDeletions)
		if kind == ofRange {
			key = append(appendEscaped(key, start), end...)
		}
		gone = append(gone, goneDeletion{key, t})
	}
	recent := [deletionKinds]bool{c.has(ofPartition, token), c.has(ofRange, token)}
	if t := d.partition; t.ts != noTime {
		look(ofPartition, nil, nil, t, w.purger.due(t.second) && !recent[ofPartition])
	}
	for i := range d.stored {
		x := &d.stored[i]
		may := w.purger.due(x.second) && !recent[ofRange] || !d.needs(x.start, x.end, x.tombstone)
		look(ofRange, x.start, x.end, x.tombstone, may)
	}
	return gone, n
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

// removeDeletions removes tombstones unless they have been written again meanwhile.
func (w *sweep) removeDeletions(ctx context.Context, gone []goneDeletion, c *collection) error {
	removed := 0
	err := w.store.update(ctx, bytes.Clone(gone[0].key), func(txn engine.Txn) error {
		removed = 0
		for _, x := range gone {
			same := false
			_, err := txn.Get(x.key, func(value []byte) error {
				t, err := readTombstone(value)
				same = t == x.tombstone
				return err
			})
			if err != nil {
				return err
			}
			if same {
				removed++
				txn.Delete(x.key)
			} else {
				c.add(kindOf(x.key, prefixLength(x.key)), tokenOf(x.key))
			}
		}
		return nil
	})
	if err == nil {
		w.store.swept.removed.Add(uint64(removed))
	}
	return err
}
