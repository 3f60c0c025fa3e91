package store

import (
	"bytes"
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/tombstones"
	"github.com/cqld/cqld/store/usage"
)

// sweep is one pass over a table.
type sweep struct {
	*core
	swept  *sweepCounters
	era    uint64 // how often Restore was called before
	id     uint32
	table  *schema.Table
	usage  *usage.Table
	pause  int
	purger rows.Purger
	census census
	due    int64

	position   []byte // the key to go on from
	end        []byte // the first key after the last one to look at
	prefix     []byte // of the partition that position is in
	tombstones tombstones.Reader
	lessened   [][]byte // keys of rows of which something may go
	damaged    int      // rows
	indexes    []*index.Index
	makers     [2]index.Maker // of entries of rows as they were and as they are kept

	progress SweepProgress // without its rows, which looked has
	looked   atomic.Int64
}

// sweepTable goes from the first row to the last.
func (w *sweep) sweepTable(ctx context.Context) error {
	started := w.now().Unix()
	w.purger = rows.NewPurger(w.table, started)
	w.due = math.MaxInt64
	err := w.step(func() error {
		w.indexes = w.state.Load().indexes[w.id]
		w.usage.BeginSweep(started)
		return nil
	})
	if err != nil {
		return err
	}
	rebuild := w.deletions.RebuildFilter(w.id, w.usage.AwaitWrites)
	if rebuild != nil {
		defer rebuild.Finish(false)
	}
	w.position = rows.AppendArea(nil, w.id, rows.AreaRows)
	w.end = rows.Successor(bytes.Clone(w.position))
	for {
		began := time.Now()
		more, err := w.chunk(ctx)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := w.rest(ctx, time.Since(began)); err != nil {
			return err
		}
	}
	if err := w.cleanIndexes(ctx); err != nil {
		return err
	}
	if rebuild != nil {
		if err := w.purgeTombstones(ctx, rebuild); err != nil {
			return err
		}
	}
	if w.damaged > 0 {
		w.log.Error().Uint32("store_id", w.id).Int("rows", w.damaged).Msg("a sweep has passed damaged rows")
	}
	w.census.endPartition()
	w.swept.sweeps.Add(1)
	return w.step(func() error { w.usage.EndSweep(w.census.Estimate, w.due); return nil })
}

func (w *sweep) step(fn func() error) error { return w.core.step(w.era, fn) }

// rest leaves the processor to others.
func (w *sweep) rest(ctx context.Context, worked time.Duration) error {
	if w.pause == 0 {
		return ctx.Err()
	}
	t := time.NewTimer(min(worked*time.Duration(w.pause), maxPause))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// chunk looks at some rows and purges them. It reports whether there are more.
func (w *sweep) chunk(ctx context.Context) (more bool, err error) {
	err = w.step(func() (err error) {
		more, err = w.purgeChunk(ctx)
		return err
	})
	return more, err
}

// purgeChunk is chunk, as one step.
func (w *sweep) purgeChunk(ctx context.Context) (more bool, err error) {
	seen, size := 0, 0
	w.lessened = w.lessened[:0]
	var last []byte
	d := &w.deletions
	clock := d.Clock()
	err = w.engine.View(func(src engine.Reader) error {
		w.tombstones.Begin(d.FilterOf(w.id, clock))
		w.tombstones.Scan(src, w.id, rows.AppendArea(nil, w.id, rows.AreaRows), nil)
		defer w.tombstones.Cursor.Finish()
		return src.Scan(w.position, w.end, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
			seen, size = seen+1, size+len(key)+len(value)
			last = append(last[:0], key...)
			return seen < chunkRows && size < chunkBytes, w.look(src, key, value)
		})
	})
	if err != nil || seen == 0 {
		return false, err
	}
	w.swept.rows.Add(uint64(seen))
	w.looked.Add(int64(seen))
	w.position = append(last, 0)
	for n := purgeAtOnce; len(w.lessened) > 0; {
		n = min(len(w.lessened), n)
		err := w.purge(ctx, w.lessened[:n])
		switch {
		case errors.Is(err, engine.ErrTooLarge) && n > 1:
			n /= 2
			continue
		case errors.Is(err, engine.ErrTooLarge): // merges have made it so, and it stays as it is
		case err != nil:
			return false, err
		}
		w.lessened = w.lessened[n:]
	}
	return true, nil
}

// allDead reports whether nearly all rows in a watched range may be purged, and takes the others out of it. Reads may
// jump over dead rows before they are purged, because a row stays dead until it is written: to purge a million rows of
// a deleted partition takes much longer than to look at them.
func (w *sweep) allDead(start, end []byte) (bool, error) {
	left, seen := 0, 0
	d := &w.deletions
	clock := d.Clock()
	defer func() { w.prefix = w.prefix[:0] }()
	err := w.engine.View(func(src engine.Reader) error {
		w.tombstones.Begin(d.FilterOf(w.id, clock))
		w.tombstones.Scan(src, w.id, rows.AppendArea(nil, w.id, rows.AreaRows), nil)
		defer w.tombstones.Cursor.Finish()
		return src.Scan(start, end, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
			if !bytes.HasPrefix(key, w.prefix) || len(w.prefix) == 0 {
				if err := w.enter(src, key); err != nil {
					return false, err
				}
			}
			kept, _, err := w.purger.Purge(value, w.tombstones.Over(key[len(w.prefix):]))
			if err != nil || kept != nil {
				d.Fill(key)
				left++
			}
			if seen++; seen%chunkRows == 0 {
				return true, w.closing.Err()
			}
			return left <= tombstones.MaxLeft, nil
		})
	})
	return err == nil && left <= tombstones.MaxLeft, err
}

// look counts a row as it will be, and notes it if something of it may go. A damaged row stays as it is.
func (w *sweep) look(src engine.Reader, key, value []byte) error {
	if len(w.prefix) == 0 || !bytes.HasPrefix(key, w.prefix) {
		if err := w.enter(src, key); err != nil {
			return err
		}
	}
	kept, less, err := w.purger.Purge(value, w.tombstones.Over(key[len(w.prefix):]))
	if err != nil {
		w.damaged++
		return nil
	}
	if less {
		w.lessened = append(w.lessened, bytes.Clone(key))
	}
	if kept == nil {
		return nil
	}
	due, tombstones, err := rows.NextPurge(kept, w.purger.Grace, w.purger.Now)
	w.due = min(w.due, due)
	w.census.Tombstones += tombstones
	w.census.row(w.prefix, len(key)+len(kept))
	return err
}

func (w *sweep) enter(src engine.Reader, key []byte) error {
	if len(key) < rows.AreaSize+rows.TokenSize {
		return rows.ErrKey
	}
	_, rest, err := rows.SplitEscaped(nil, key[rows.AreaSize+rows.TokenSize:])
	if err != nil {
		return err
	}
	w.prefix = append(w.prefix[:0], key[:len(key)-len(rest)]...)
	return w.tombstones.Load(src, w.prefix)
}

// purge purges rows as they are now. Tombstones that came meanwhile are left to the next sweep.
func (w *sweep) purge(ctx context.Context, keys [][]byte) error {
	var removed, rewritten, freed int
	d := &w.deletions
	clock := d.Clock()
	err := w.update(engine.WithFreeing(ctx), bytes.Clone(w.prefix), func(txn engine.Txn) error {
		removed, rewritten, freed = 0, 0, 0
		w.tombstones.Known = d.FilterOf(w.id, clock)
		for _, key := range keys {
			hidden, err := w.hidden(txn, key)
			if err != nil {
				return err
			}
			_, err = txn.Get(key, func(value []byte) error {
				kept, less, err := w.purger.Purge(value, hidden)
				if err != nil || !less {
					return err
				}
				if err := w.dropEntries(txn, key, value, kept); err != nil {
					return err
				}
				if kept == nil {
					removed, freed = removed+1, freed+len(key)+len(value)
					txn.Delete(key)
					return nil
				}
				rewritten, freed = rewritten+1, freed+len(value)-len(kept)
				txn.Put(key, kept)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c := w.swept
	c.removed.Add(uint64(removed))
	c.rewritten.Add(uint64(rewritten))
	c.freed.Add(uint64(freed))
	return nil
}

// hidden is the tombstone of its partition or of a range that hides most of a row.
func (w *sweep) hidden(txn engine.Txn, key []byte) (rows.Tombstone, error) {
	if len(w.prefix) == 0 || !bytes.HasPrefix(key, w.prefix) {
		if err := w.enter(txn, key); err != nil {
			return rows.NoTombstone, err
		}
	}
	return w.tombstones.Over(key[len(w.prefix):]), nil
}

// census counts rows that a sweep goes over, in the order of their keys.
type census struct {
	usage.Estimate
	partition []byte // the prefix of its keys
	size      int64
}

func (c *census) row(partition []byte, size int) {
	if c.Partitions == 0 || !bytes.Equal(partition, c.partition) {
		c.endPartition()
		c.partition = append(c.partition[:0], partition...)
		c.size = 0
		c.Partitions++
	}
	c.Rows++
	c.Bytes += int64(size)
	c.size += int64(size)
}

// endPartition compares the partition that was counted with the largest.
func (c *census) endPartition() {
	if c.size <= c.LargestPartition {
		return
	}
	c.LargestPartition = c.size
	if key, _, err := rows.SplitEscaped(nil, c.partition[rows.AreaSize+rows.TokenSize:]); err == nil {
		c.LargestKey = key
	}
}

// SweepProgress is how far a sweep has come.
type SweepProgress struct {
	Table *schema.Table
	Began time.Time
	Rows  int64 // that were looked at
	Total int64 // rows, estimated when it began
}

type sweepCounters struct{ sweeps, rows, removed, rewritten, freed atomic.Uint64 }

// purgeAtOnce is how many keys one update purges.
const purgeAtOnce = 128

// maxPause is the longest rest after a chunk.
const maxPause = time.Second
