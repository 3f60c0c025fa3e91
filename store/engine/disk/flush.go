package disk

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/cqld/cqld/internal/invariants"
	"github.com/cqld/cqld/store/engine/badger"
	"github.com/cqld/cqld/store/engine/tree"
)

// retryEvery is how often it is tried again what cannot be done for now.
const retryEvery = 100 * time.Millisecond

// compactionPoll is how often the flusher looks whether Badger takes more.
const compactionPoll = 5 * time.Millisecond

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

// errStopped says that a flush ended because there is no time left to close the engine.
var errStopped = errors.New("the engine is being closed")

// flushFrozen flushes frozen memtables until the engine is closed, and then what is left, if there is time.
func (e *Engine) flushFrozen() {
	defer e.finished.Done()
	for {
		closing := false
		select {
		case <-e.stop:
			closing = true
			e.freezeRest()
		case <-e.flushing:
		}
		for m, base := e.oldestFrozen(); m != nil; m, base = e.oldestFrozen() {
			if err := e.flush(m, base); err != nil {
				if !errors.Is(err, errStopped) {
					e.fail(err)
				}
				return
			}
		}
		if closing {
			return
		}
	}
}

// freezeRest freezes the memtable of an engine that is being closed, if it has commits that tables lack. It may have no
// rows: what was written was deleted.
func (e *Engine) freezeRest() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.memtable.last > e.inTables {
		e.freeze()
	}
}

// oldestFrozen is the memtable that is flushed next, or nil, and what is below it.
func (e *Engine) oldestFrozen() (*memtable, *badger.Snapshot) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.layers.frozen); n > 0 {
		return e.layers.frozen[n-1], e.layers.base
	}
	return nil, nil
}

// flush writes a memtable to Badger. When it is safe there, reads begin without the memtable, and the log loses what it
// has of it.
func (e *Engine) flush(m *memtable, base *badger.Snapshot) error {
	if err := e.syncNow(); err != nil { // I3
		return err
	}
	began := time.Now()
	if err := e.writeTables(m, base); err != nil {
		return err
	}
	e.goOn()
	next := e.below.Snapshot()
	e.mu.Lock()
	invariants.Check(e.layers.frozen[len(e.layers.frozen)-1] == m, "memtable %d was flushed out of order", m.number) // I4
	e.replaceLayers(&layers{frozen: e.layers.frozen[:len(e.layers.frozen)-1], base: next})                           // I6
	e.dropped, e.inTables = m.number, m.last
	e.pace.flushed(m.size, time.Since(began))
	e.changed.Broadcast()
	e.mu.Unlock()
	e.flushes.Add(1)
	if err := e.log.Drop(m.last); err != nil { // I5
		e.o.Log.Warn().Err(err).Msg("cannot remove a segment of the log")
	}
	return nil
}

// writeTables writes the rows of a memtable to Badger, in the order of their keys. What was merged is folded into what
// base has.
func (e *Engine) writeTables(m *memtable, base *badger.Snapshot) error {
	f := e.below.BeginFlush(e.rest)
	defer f.Discard()
	var c tree.Cursor
	c.Begin(&m.tree, nil, nil, false)
	var buf []byte
	var last tree.Row
	for n := 0; ; n++ {
		r := c.Row()
		if r.None() {
			return f.Finish(m.last)
		}
		if invariants.Enabled && !last.None() {
			invariants.Check(bytes.Compare(last.Key(), r.Key()) < 0, "key %x is flushed after key %x", r.Key(), last.Key())
		}
		last = r
		k, value, err := content(r, e.fold)
		if err == nil && k == merged {
			buf, err = e.foldIntoTables(base, buf[:0], r.Key(), value)
			value = buf
		}
		switch {
		case err != nil:
		case k == deleted:
			err = f.Delete(r.Key())
		case len(value) > 0:
			err = f.Put(r.Key(), value)
		}
		if err == nil && n%1000 == 0 && e.isLate() {
			err = errStopped
		}
		if err != nil {
			return err
		}
		c.Next()
	}
}

// foldIntoTables appends to dst the value that a key has with a delta. It appends nothing if they cannot be folded:
// then the value, or the delta, is not of the store's making.
func (e *Engine) foldIntoTables(base *badger.Snapshot, dst, key, delta []byte) (value []byte, err error) {
	var unfoldable error
	found, err := base.Get(key, func(existing []byte) error {
		value, unfoldable = e.fold(dst, key, existing, delta)
		return nil
	})
	switch {
	case err != nil:
		return dst, fmt.Errorf("flush: %w", err)
	case !found:
		return append(dst, delta...), nil
	case unfoldable != nil:
		e.o.Log.Error().Err(unfoldable).Hex("key", key).
			Msg("what was merged into a key is lost: it cannot be folded into what the key holds")
		return dst, nil
	}
	if len(value) >= largeValue {
		e.large.note(key)
	}
	return value, nil
}

// rest notes why Badger takes nothing and waits a little. It fails if the engine is being closed and has no time to
// wait.
func (e *Engine) rest(reason error) error {
	pause := compactionPoll
	if !badger.IsBehind(reason) {
		if e.stuck.Swap(&reason) == nil {
			e.o.Log.Error().Err(reason).Msg("nothing can be written to tables for now")
		}
		e.mu.Lock()
		e.changed.Broadcast() // who waits for the flush is refused
		e.mu.Unlock()
		pause = retryEvery
		select {
		case <-e.stop:
			return errStopped
		default:
		}
	} else {
		e.goOn()
	}
	select {
	case <-e.late:
		return errStopped
	case <-time.After(pause):
		return nil
	}
}

// goOn notes that Badger takes something.
func (e *Engine) goOn() {
	if e.stuck.Load() != nil && e.stuck.Swap(nil) != nil {
		e.o.Log.Info().Msg("tables are written again")
	}
}

// isLate reports whether the engine is being closed and there is no time left.
func (e *Engine) isLate() bool {
	select {
	case <-e.late:
		return true
	default:
		return false
	}
}
