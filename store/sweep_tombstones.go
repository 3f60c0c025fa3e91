package store

import (
	"bytes"
	"context"
	"time"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/tombstones"
)

// goneTombstone is a tombstone that may be removed.
type goneTombstone struct {
	key []byte
	rows.Tombstone
}

// purgeTombstones removes tombstones of partitions and ranges that were old enough when the sweep began: it has gone
// over the rows since, and they hide nothing any more. Tombstones written since then stay, even if a slow statement
// dated them earlier. Ranges within others that reach further go too. The filters are made from the rest.
func (w *sweep) purgeTombstones(ctx context.Context, c *tombstones.Rebuild) error {
	w.position = rows.AppendArea(w.position[:0], w.id, rows.AreaTombstones)
	for more := true; more; {
		began := time.Now()
		var gone []goneTombstone
		err := w.step(func() (err error) {
			gone, more, err = w.goneTombstones(c)
			for len(gone) > 0 && err == nil {
				n := min(len(gone), purgeAtOnce)
				err = w.removeTombstones(ctx, gone[:n], c)
				gone = gone[n:]
			}
			return err
		})
		if err != nil {
			return err
		}
		if err := w.rest(ctx, time.Since(began)); err != nil {
			return err
		}
	}
	return w.step(func() error { c.Finish(true); return nil })
}

// goneTombstones goes over some partitions, from position on, and returns their tombstones that may go. It counts
// the others and adds them to the filters.
func (w *sweep) goneTombstones(c *tombstones.Rebuild) (gone []goneTombstone, more bool, err error) {
	seen := 0
	err = w.engine.View(func(src engine.Reader) error {
		w.tombstones.Cursor.Begin(src, w.id, w.position, nil)
		defer w.tombstones.Cursor.Finish()
		for seen < chunkRows {
			key, _, err := w.tombstones.Cursor.Peek()
			if err != nil || key == nil {
				return err
			}
			if w.prefix, err = rows.AppendRowsPrefix(w.prefix[:0], key); err != nil {
				return err
			}
			if err := w.tombstones.Load(src, w.prefix); err != nil {
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

// goneOf appends the removable tombstones of the current partition, and returns the number of all.
func (w *sweep) goneOf(gone []goneTombstone, c *tombstones.Rebuild) (all []goneTombstone, n int) {
	d, token := &w.tombstones, rows.TokenOf(w.prefix)
	look := func(kind tombstones.Kind, start, end []byte, t rows.Tombstone, may bool) {
		n++
		if !may {
			w.census.Tombstones++
			w.due = min(w.due, rows.DueAfter(Expiry{At: t.Second}, w.purger.Grace, w.purger.Now)+w.margin())
			c.Add(kind, token)
			return
		}
		key := bytes.Clone(w.prefix)
		rows.SetArea(key, w.id, rows.AreaTombstones)
		if kind == tombstones.OfRange {
			key = append(rows.AppendEscaped(key, start), end...)
		}
		gone = append(gone, goneTombstone{key, t})
	}
	recent := [tombstones.Kinds]bool{c.Has(tombstones.OfPartition, token), c.Has(tombstones.OfRange, token)}
	if t := d.Partition; t.Timestamp != rows.NoTimestamp {
		look(tombstones.OfPartition, nil, nil, t, w.purger.Due(t.Second+w.margin()) && !recent[tombstones.OfPartition])
	}
	for i := range d.Stored {
		x := &d.Stored[i]
		may := w.purger.Due(x.Second+w.margin()) && !recent[tombstones.OfRange] || !d.Needs(x.Start, x.End, x.Tombstone)
		look(tombstones.OfRange, x.Start, x.End, x.Tombstone, may)
	}
	return gone, n
}

// sharedMargin is how many seconds longer tombstones of partitions and ranges stay where nodes share the engine.
const sharedMargin = 3600

// margin is how many seconds longer tombstones of a shared engine stay. Other nodes may have written some since the
// sweep began, which hide something in rows that the sweep has passed.
func (w *sweep) margin() int64 {
	if w.cluster == nil {
		return 0
	}
	return sharedMargin
}

// removeTombstones removes tombstones unless they were written again meanwhile.
func (w *sweep) removeTombstones(ctx context.Context, gone []goneTombstone, c *tombstones.Rebuild) error {
	removed := 0
	for _, x := range gone {
		defer w.deletions.BeginTombstones(rows.TokenOf(x.key)).End()
	}
	err := w.update(engine.WithFreeing(ctx), bytes.Clone(gone[0].key), func(txn engine.Txn) error {
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
				c.Add(tombstones.KindOf(x.key, rows.PartitionPrefixLength(x.key)), rows.TokenOf(x.key))
			}
		}
		return nil
	})
	if err == nil {
		w.swept.removed.Add(uint64(removed))
	}
	return err
}
