package store

import (
	"bytes"
	"context"
	"time"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// goneDeletion is a tombstone that may go.
type goneDeletion struct {
	key []byte
	rows.Tombstone
}

// purgeDeletions removes the tombstones of partitions and ranges that were old enough when the sweep began: the rows
// have been gone through since, and there is nothing left that they hide. Those that were written since the sweep began
// stay, though a statement that took long may have written them as of a second before. Ranges inside others that reach
// further go as well. What is left is what the index of deletions knows from here on.
func (w *sweep) purgeDeletions(ctx context.Context, c *collection) error {
	w.position = rows.AppendArea(w.position[:0], w.id, rows.AreaTombstones)
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
			if w.prefix, err = rows.AppendRowsPrefix(w.prefix[:0], key); err != nil {
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
		rows.SetArea(w.position, w.id, rows.AreaTombstones)
		w.position = rows.Successor(w.position)
		return nil
	})
	return gone, more, err
}

// goneOf appends the tombstones of the partition at hand that may go, and returns how many it has.
func (w *sweep) goneOf(gone []goneDeletion, c *collection) (all []goneDeletion, n int) {
	d, token := &w.deletions, rows.TokenOf(w.prefix)
	look := func(kind deletionKind, start, end []byte, t rows.Tombstone, may bool) {
		n++
		if !may {
			w.census.Tombstones++
			w.due = min(w.due, rows.DueAfter(Expiry{At: t.Second}, w.purger.Grace, w.purger.Now))
			c.add(kind, token)
			return
		}
		key := bytes.Clone(w.prefix)
		rows.SetArea(key, w.id, rows.AreaTombstones)
		if kind == ofRange {
			key = append(rows.AppendEscaped(key, start), end...)
		}
		gone = append(gone, goneDeletion{key, t})
	}
	recent := [deletionKinds]bool{c.has(ofPartition, token), c.has(ofRange, token)}
	if t := d.Partition; t.Timestamp != rows.NoTimestamp {
		look(ofPartition, nil, nil, t, w.purger.Due(t.Second) && !recent[ofPartition])
	}
	for i := range d.Stored {
		x := &d.Stored[i]
		may := w.purger.Due(x.Second) && !recent[ofRange] || !d.Needs(x.Start, x.End, x.Tombstone)
		look(ofRange, x.Start, x.End, x.Tombstone, may)
	}
	return gone, n
}

// removeDeletions removes tombstones unless they have been written again meanwhile.
func (w *sweep) removeDeletions(ctx context.Context, gone []goneDeletion, c *collection) error {
	removed := 0
	err := w.store.update(ctx, bytes.Clone(gone[0].key), func(txn engine.Txn) error {
		removed = 0
		for _, x := range gone {
			same := false
			_, err := txn.Get(x.key, func(value []byte) error {
				t, err := rows.ReadTombstone(value)
				same = t == x.Tombstone
				return err
			})
			if err != nil {
				return err
			}
			if same {
				removed++
				txn.Delete(x.key)
			} else {
				c.add(kindOf(x.key, rows.PartitionPrefixLength(x.key)), rows.TokenOf(x.key))
			}
		}
		return nil
	})
	if err == nil {
		w.store.swept.removed.Add(uint64(removed))
	}
	return err
}
