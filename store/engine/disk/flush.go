package disk

import (
	"errors"
	"time"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/tree"
)

// The flusher gives Badger at most this at a time, unless one value is longer.
const (
	flushOps   = 1000
	flushBytes = 1 << 20
)

// retryEvery is how often the flusher tries again when Badger takes nothing for now.
const retryEvery = 100 * time.Millisecond

// FlushSoon begins to flush what has been written so far, so that a Close that follows has less to do.
func (e *Engine) FlushSoon() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.memtable.size == 0 || len(e.layers.frozen) >= maxFrozen {
		return
	}
	e.beginWriting(true)
	e.freeze()
	e.publish(nil)
	e.wake(e.flushing)
}

// flushFrozen flushes frozen memtables until the engine is closed.
func (e *Engine) flushFrozen() {
	defer e.finished.Done()
	for {
		select {
		case <-e.stop:
			return
		case <-e.flushing:
		}
		for m := e.oldestFrozen(); m != nil; m = e.oldestFrozen() {
			if err := e.flush(m); err != nil {
				if !errors.Is(err, errStopped) {
					e.fail(err)
				}
				return
			}
		}
	}
}

// oldestFrozen is the memtable that is flushed next, or nil.
func (e *Engine) oldestFrozen() *memtable {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.layers.frozen); n > 0 {
		return e.layers.frozen[n-1]
	}
	return nil
}

// errStopped says that a flush ended because the engine is being closed.
var errStopped = errors.New("the engine is being closed")

// flush writes a memtable to Badger. When it is safe there, reads begin without the memtable, and the log loses what it
// has of it. The log is synced before: else a power cut could leave a part of a commit in tables that the log lacks.
func (e *Engine) flush(m *memtable) error {
	if err := e.syncNow(); err != nil {
		return err
	}
	began := time.Now()
	if err := e.write(m); err != nil {
		return err
	}
	if err := e.syncBelow(); err != nil {
		return err
	}
	next := e.below.Snapshot()
	e.mu.Lock()
	e.replaceLayers(&layers{frozen: e.layers.frozen[:len(e.layers.frozen)-1], base: next})
	e.dropped = m.number
	rate := int64(float64(m.size) / time.Since(began).Seconds())
	e.flushRate = max(1<<20, (e.flushRate+rate)/2)
	e.changed.Broadcast()
	e.mu.Unlock()
	e.flushes.Add(1)
	if err := e.log.Drop(m.last); err != nil {
		e.o.Log.Warn().Err(err).Msg("cannot remove a segment of the log")
	}
	return nil
}

// syncBelow has Badger synced. It tries again while no file can be opened.
func (e *Engine) syncBelow() error {
	for {
		err := e.below.Sync()
		if err == nil || !e.below.Passes(err) {
			return err
		}
		if !e.rest(err) {
			return errStopped
		}
	}
}

// flushAll flushes everything when nobody reads or writes any more.
func (e *Engine) flushAll() error {
	if p := e.failed.Load(); p != nil {
		return *p
	}
	if err := e.syncNow(); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.freeze()
	for _, m := range e.layers.oldestFirst() {
		if err := e.write(m); err != nil {
			return err
		}
	}
	return e.below.Sync()
}

// write writes the rows of a memtable to Badger, in the order of their keys.
func (e *Engine) write(m *memtable) error {
	var c tree.Cursor
	c.Begin(&m.tree, nil, nil, false)
	var ops []engine.Op
	size := 0
	for r := c.Row(); !r.None(); r = c.Row() {
		k, value, err := content(r, e.fold)
		if err != nil {
			return err
		}
		ops = append(ops, engine.Op{Kind: opKinds[k], Key: r.Key(), Value: value})
		size += len(r.Key()) + len(value)
		c.Next()
		if len(ops) >= flushOps || size >= flushBytes {
			if err := e.writeBelow(ops); err != nil {
				return err
			}
			ops, size = ops[:0], 0
		}
	}
	return e.writeBelow(ops)
}

// opKinds are the operations that write rows to Badger.
var opKinds = [...]engine.OpKind{holds: engine.Put, deleted: engine.Delete, merged: engine.Merge, fresh: engine.Put}

// writeBelow writes to Badger. While Badger takes nothing for now it tries again. What Badger can never take, because a
// fold fails, is left out: the values of such keys are damaged.
func (e *Engine) writeBelow(ops []engine.Op) error {
	for len(ops) > 0 {
		written, err := e.below.Write(ops)
		ops = ops[written:]
		switch {
		case err == nil:
			e.unstick()
		case e.below.Failed() || errors.Is(err, engine.ErrUnknown):
			return err
		case errors.Is(err, engine.ErrFull) || errors.Is(err, engine.ErrRefused):
			if !e.rest(err) {
				return errStopped
			}
		default:
			e.o.Log.Error().Err(err).Hex("key", ops[0].Key).
				Msg("what was merged into a key is lost: it cannot be folded into what the key holds")
			ops = ops[1:]
		}
	}
	return nil
}

// rest notes why nothing can be flushed and waits a little. It reports false if the engine is being closed.
func (e *Engine) rest(err error) bool {
	if e.stuck.Swap(&err) == nil {
		e.o.Log.Error().Err(err).Msg("nothing can be written to tables for now")
	}
	e.mu.Lock()
	e.changed.Broadcast() // who waits for the flush is refused
	e.mu.Unlock()
	select {
	case <-e.stop:
		return false
	case <-time.After(retryEvery):
		return true
	}
}

// unstick notes that flushing goes on.
func (e *Engine) unstick() {
	if e.stuck.Load() != nil && e.stuck.Swap(nil) != nil {
		e.o.Log.Info().Msg("tables are written again")
	}
}
