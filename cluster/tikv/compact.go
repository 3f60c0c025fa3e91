package tikv

import (
	"context"
	"sync"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// manyDeltas is how many deltas of a row are left beside its value. They cost each reader, and a value that is written
// anew costs once.
const manyDeltas = 8

// maxCompactions is how many rows wait to be compacted. Of more, the next reader notices again.
const maxCompactions = 1 << 12

// compaction has the rows whose deltas are to be folded.
type compaction struct {
	mu      sync.Mutex
	waiting map[string]bool
	wake    chan struct{}
}

func newCompaction() *compaction {
	return &compaction{waiting: map[string]bool{}, wake: make(chan struct{}, 1)}
}

// noteDeltas has a row compacted that has many deltas.
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

// take returns the rows that wait.
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
				e.options.Log.Debug().Err(err).Msg("a row could not be compacted")
				sleep(ctx, time.Second)
			}
		}
	}
}

// sleep waits, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// compactRow writes the value of a row with its deltas, and deletes these, unless another commit changes the row.
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
		return nil // who reads the row is told; the deltas of a long value stay
	}
	if err := txn.Set(e.valueKey(key), appendValue(nil, r.stamp, value)); err != nil {
		return err
	}
	if err := e.deleteDeltas(txn, r); err != nil {
		return err
	}
	return e.finish(txn)
}

// DeleteRange deletes keys in transactions of some at a time. So views under way see them to their end, and TiKV frees
// their space when old versions are collected.
func (e *Engine) DeleteRange(start, end []byte) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.under.Done()
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

// deletedAtOnce is how many keys of the cluster one transaction of DeleteRange deletes.
const deletedAtOnce = 1 << 10

// deleteSome deletes the first keys of a range, and returns where the rest begins; nil: there is none.
func (e *Engine) deleteSome(from, to []byte) (next []byte, err error) {
	txn, err := e.begin()
	if err != nil {
		return nil, err
	}
	n := 0
	err = e.viewAt(txn.StartTS(), func(v *view) error {
		return v.scan(from, to, engine.ScanOptions{KeysOnly: true}, func(r *row) (bool, error) {
			key := e.valueKey(r.key)
			if n += 1 + len(r.stamps); n > deletedAtOnce {
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
