package tikv

import (
	"context"
	"hash/fnv"
	"sync"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// manyDeltas is the number of deltas from which on a row is compacted. Deltas cost each reader, a compaction costs
// once.
const manyDeltas = 8

// maxCompactions is the maximum number of rows that wait for compaction. Readers schedule further rows later.
const maxCompactions = 1 << 12

// compaction is the queue of rows to compact.
type compaction struct {
	mu      sync.Mutex
	waiting map[string]bool
	wake    chan struct{}
}

func newCompaction() *compaction {
	return &compaction{waiting: map[string]bool{}, wake: make(chan struct{}, 1)}
}

// noteDeltas schedules the compaction of a row if it has many deltas.
func (e *Engine) noteDeltas(r *row) {
	if len(r.stamps) < manyDeltas {
		return
	}
	c := e.compact
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) < maxCompactions && !c.waiting[string(r.key)] {
		c.waiting[string(r.key)] = true
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

// take empties the queue.
func (c *compaction) take() map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.waiting
	c.waiting = map[string]bool{}
	return all
}

// runCompaction compacts rows until ctx ends.
func (e *Engine) runCompaction(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.compact.wake:
		}
		for key := range e.compact.take() {
			if ctx.Err() != nil {
				return
			}
			if err := e.compactRow([]byte(key)); err != nil && !lostRace(err) {
				e.options.Log.Debug().Err(err).Msg("cannot compact a row")
				sleep(ctx, time.Second)
			}
		}
	}
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// compactRow writes the folded value of a row and deletes its deltas. It fails if another commit changes the row.
func (e *Engine) compactRow(key []byte) error {
	txn, err := e.begin()
	if err != nil {
		return err
	}
	rows, err := e.rowsAt(txn.StartTS(), [][]byte{key})
	if err != nil || len(rows[0].stamps) < manyDeltas {
		return err
	}
	r := &rows[0]
	value, err := r.folded(e.fold)
	if err != nil || len(value) > maxValue {
		return nil // readers get the error; the deltas of a long value stay
	}
	if err := txn.Set(e.valueKey(key), appendValue(nil, r.stamp, value)); err != nil {
		return err
	}
	if err := e.deleteDeltas(txn, r); err != nil {
		return err
	}
	return e.finish(txn)
}

// DeleteRange deletes keys in several transactions. Open views still see them, and TiKV frees their space with the
// garbage collection.
func (e *Engine) DeleteRange(start, end []byte) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.calls.Done()
	from, to := e.bounds(start, end)
	for len(from) > 0 && string(from) < string(to) {
		var next []byte
		err := e.repeat(func() (err error) {
			next, err = e.deleteSome(from, to)
			return err
		})
		if err != nil {
			return err
		}
		from = next
	}
	return nil
}

// maxDeletes is how many keys of the cluster a transaction of DeleteRange deletes.
const maxDeletes = 1 << 10

// deleteSome deletes the first keys of a range. It returns the start of the rest, or nil if nothing is left.
func (e *Engine) deleteSome(from, to []byte) (next []byte, err error) {
	txn, err := e.begin()
	if err != nil {
		return nil, err
	}
	n := 0
	err = e.viewAt(txn.StartTS(), func(v *view) error {
		return v.scan(from, to, engine.ScanOptions{KeysOnly: true}, func(r *row) (bool, error) {
			key := e.valueKey(r.key)
			if n += 1 + len(r.stamps); n > maxDeletes {
				next = key
			}
			if err := txn.Delete(key); err != nil {
				return false, err
			}
			if err := e.deleteDeltas(txn, r); err != nil {
				return false, err
			}
			return next == nil, nil
		})
	})
	if err != nil || n == 0 {
		return nil, err
	}
	return next, e.finish(txn)
}

// The cluster splits a region after it has grown or has had many requests for a while. Until then one store would
// serve all requests for a new table. So a new table is split when it is created, and PD scatters its regions.
//
// PD merges regions that are still small and have few requests after an hour (split-merge-interval). So small tables
// do not keep their regions, and a table that is loaded later starts with one region.
const (
	splitQueue   = 256 // tables and indexes that wait
	splitTimeout = 30 * time.Second
)

// Parts returns the number of regions of a new table.
func (e *Engine) Parts() int { return e.options.Split }

// Split splits regions at keys in the background.
func (e *Engine) Split(keys [][]byte) {
	at := make([][]byte, len(keys))
	for i, key := range keys {
		at[i] = e.valueKey(key)
	}
	select {
	case e.splits <- at:
	default: // the cluster is slow
		e.options.Log.Warn().Msg("cannot split a new table: too many tables wait for it")
	}
}

// runSplits splits queued tables, one after the other.
func (e *Engine) runSplits(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case keys := <-e.splits:
			e.splitRegions(ctx, keys)
		}
	}
}

// splitRegions splits regions at keys and asks PD to scatter them over different stores.
func (e *Engine) splitRegions(ctx context.Context, keys [][]byte) {
	ctx, cancel := context.WithTimeout(ctx, splitTimeout)
	defer cancel()
	h := fnv.New64a()
	_, _ = h.Write(keys[0]) // it never fails
	group := int64(h.Sum64())
	if _, err := e.cluster.SplitRegions(ctx, keys, true, &group); err != nil {
		e.options.Log.Warn().Err(err).Msg("cannot split and scatter a new table: one store may serve all of its load until it has " +
			"grown")
	}
}
