package disk

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/cqld/cqld/internal/invariants"
	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/badger"
	"github.com/cqld/cqld/store/engine/memory"
)

const (
	retryEvery     = 100 * time.Millisecond // the backoff before the disk is tried again
	compactionPoll = 5 * time.Millisecond   // how often the flusher looks whether Badger takes more
)

// FlushSoon begins to flush the memtable, so that a later Close has less to do.
func (e *Engine) FlushSoon() {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	if e.IsClosed() || e.Memtable.Size == 0 || len(e.Layers.Frozen) >= maxFrozen {
		return
	}
	e.Freeze()
	wake(e.flushing)
}

// errStopped ends a flush when there is no time left to close the engine.
var errStopped = errors.New("the engine is being closed")

// flushFrozen flushes frozen memtables until the engine is closed, and then the rest, if there is time.
func (e *Engine) flushFrozen() {
	defer e.finished.Done()
	for {
		closing := false
		select {
		case <-e.stop:
			closing = true
			e.freezeRest()
		case <-e.flushing:
		case <-e.manySegments():
			e.dropSegments()
		}
		for m, base := e.nextFlush(); m != nil; m, base = e.nextFlush() {
			if err := panics.Call(func() error { return e.flush(m, base) }); err != nil {
				if !errors.Is(err, errStopped) {
					e.fail(err)
				}
				return
			}
		}
		if closing {
			return
		}
		if e.badger.IsFull() {
			e.freeLog()
		}
	}
}

// freeLog makes the log need fewer segments, because space is short.
func (e *Engine) freeLog() {
	if err := e.badger.Hasten(); err != nil {
		e.o.Log.Warn().Err(err).Msg("cannot make a table so that the log is freed")
	}
	e.dropSegments()
}

// freezeRest freezes the memtable of an engine that is being closed, if it has commits that tables lack. It may have
// no rows, if they were deleted.
func (e *Engine) freezeRest() {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	if e.Memtable.Last > e.inTables {
		e.Freeze()
	}
}

// nextFlush is the memtable that is flushed next, or nil, and the base below it.
func (e *Engine) nextFlush() (*memory.Memtable, memory.Base) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	return e.OldestFrozen(), e.Layers.Base
}

// flush writes a memtable to Badger. Then reads begin without the memtable, and the log drops its segments.
func (e *Engine) flush(m *memory.Memtable, base memory.Base) error {
	if err := e.syncNow(); err != nil { // I3
		return err
	}
	began := time.Now()
	if err := e.writeTables(m, base); err != nil { // I4
		return err
	}
	e.unstick()
	e.replaceMemtable(m, time.Since(began))
	e.flushes.Add(1)
	e.dropSegments()
	return nil
}

// dropSegments drops the segments of the log that are not needed any more.
func (e *Engine) dropSegments() {
	inTables, err := e.badger.InTables()
	if err == nil {
		err = e.log.Drop(inTables) // I5
	}
	if err != nil {
		e.o.Log.Warn().Err(err).Msg("cannot remove a segment of the log")
	}
}

// manySegments returns a channel that says when to look again whether segments can be dropped, or nil if there are few:
// Badger writes a memtable to a table some time after the flush.
func (e *Engine) manySegments() <-chan time.Time {
	if segments, _ := e.log.Size(); segments <= maxReplayed {
		return nil
	}
	return time.After(time.Second)
}

// replaceMemtable makes reads begin on the tables that a memtable was flushed to.
func (e *Engine) replaceMemtable(m *memory.Memtable, took time.Duration) {
	next := e.badger.Snapshot()
	e.Mu.Lock()
	defer e.Mu.Unlock()
	e.Flushed(m, next) // I6
	if e.inTables = m.Last; e.Memtable.Size >= e.o.Memtable {
		e.Freeze()
	}
	if e.freeing {
		e.freeing = false
		e.badger.CompactSoon() // which frees what the memtable has deleted
	}
	e.flow.flushed(m.Size, took)
	e.Changed.Broadcast()
}

// writeTables writes the rows of a memtable to Badger, in the order of their keys. Deltas are folded into the values
// in base.
func (e *Engine) writeTables(m *memory.Memtable, base memory.Base) error {
	var f *badger.Flush
	f = e.badger.BeginFlush(func(reason error) error { return e.waitForBadger(reason, f.IsPartial()) })
	defer f.Discard()
	var folded, last []byte
	const look = 1 << 20 // bytes between looks at the deadline
	n := look
	err := m.Each(e.fold, func(op engine.Op, err error) error {
		invariants.Check(last == nil || bytes.Compare(last, op.Key) < 0, "key %x is flushed after key %x", op.Key, last)
		last = op.Key
		if err == nil && op.Kind == engine.Merge {
			folded, err = e.foldIntoTables(base, folded[:0], op.Key, op.Value)
			op.Value = folded
		}
		switch {
		case err != nil:
		case op.Kind == engine.Delete:
			err = f.Delete(op.Key)
		case len(op.Value) > 0:
			err = f.Put(op.Key, op.Value)
		}
		if n += len(op.Key) + len(op.Value) + memory.RowOverhead; n >= look {
			if n = 0; err == nil && e.isLate() {
				err = errStopped
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return f.Finish(m.Last)
}

// foldIntoTables appends to dst the value of a key with a delta folded in. It appends nothing if they cannot be
// folded: then the store has written neither the value nor the delta.
func (e *Engine) foldIntoTables(base memory.Base, dst, key, delta []byte) (value []byte, err error) {
	var unfoldable error
	found := false
	err = e.badger.BesideDrop(func() error {
		found, err = base.Get(key, func(existing []byte) error {
			value, unfoldable = e.fold(dst, key, existing, delta)
			return nil
		})
		return err
	})
	switch {
	case err != nil:
		return dst, fmt.Errorf("flush: %w", err)
	case !found:
		return append(dst, delta...), nil
	case unfoldable != nil:
		e.o.Log.Error().Err(unfoldable).Hex("key", key).
			Msg("a delta is lost: it cannot be folded into the value of its key")
		return dst, nil
	}
	if len(value) >= longValue {
		e.longKeys.remember(key)
	}
	return value, nil
}

// waitForBadger notes why Badger takes nothing and waits a little. It fails if the engine is being closed and has no
// time to wait.
func (e *Engine) waitForBadger(reason error, partial bool) error {
	pause := compactionPoll
	if !badger.IsBehind(reason) {
		if e.stuck.Swap(&reason) == nil {
			e.o.Log.Error().Err(reason).Msg("nothing can be written to tables for now")
		}
		e.wakeCommits() // those that wait for the flush are refused
		if errors.Is(reason, engine.ErrFull) && !partial {
			e.freeLog()
		}
		pause = retryEvery
		select {
		case <-e.stop:
			return errStopped
		default:
		}
	} else {
		e.unstick()
	}
	select {
	case <-e.late:
		return errStopped
	case <-time.After(pause):
		return nil
	}
}

// unstick notes that Badger takes writes.
func (e *Engine) unstick() {
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
