package disk

// No acknowledged write is lost because these invariants hold. Comments refer to them by number.
//
//	I1  Commits have consecutive sequence numbers, in the order of their records in the log. Memtables divide this order:
//	    a memtable has the commits after the last one of the memtable frozen before it, up to its own last.
//	I2  A commit is acknowledged after its record is in the log. In the mode Batch the log is synced before. In the mode
//	    Periodic the last sync of the log began at most 2 * SyncEvery before. A commit whose record could not be
//	    appended leaves no trace in the memtable.
//	I3  Nothing of a memtable is given to Badger before the log is synced up to the memtable's last commit. So after a
//	    power cut tables have no part of a commit that the log lacks.
//	I4  Memtables are flushed in the order in which they were frozen, each as a whole. The marker that completes a flush
//	    names its last commit, and is synced after everything else of the flush.
//	I5  A segment of the log is removed when a complete flush has all its commits, and is in tables as a whole, not in
//	    the log of a memtable of Badger's. So tables and the log have everything, without the logs of memtables.
//	I6  A reader sees the memtable, the frozen memtables from the newest to the oldest, and a snapshot of Badger that was
//	    made after the flush before the oldest of them, and before its own flush. These are replaced together.
//	I7  Recovery replays the commits after the last complete flush. Badger may have some of their rows, from a flush that
//	    was not completed: putting, deleting or merging these a second time changes nothing.

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cqld/cqld/internal/invariants"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
)

// Append appends a commit to the log, and asks for the memtable to be frozen when it is full. If it fails, the commit
// is reverted (I2).
func (e *Engine) Append(ops []engine.Op) (full bool, err error) {
	if err := e.checkGrowth(ops); err != nil {
		return false, err
	}
	wantsSegment, err := e.log.Append(ops)
	if wantsSegment {
		wake(e.making)
	}
	if err != nil {
		return false, refusal(err)
	}
	last := e.Memtable.Last
	e.Memtable.Last = e.log.Last()
	invariants.Check(e.Memtable.Last == last+1, "commit %d follows commit %d", e.Memtable.Last, last) // I1
	if full = e.Memtable.Size >= e.o.Memtable && len(e.Layers.Frozen) < maxFrozen; full {
		wake(e.flushing)
	}
	return full, nil
}

// refusal wraps the reason why nothing can be written.
func refusal(err error) error {
	kind := engine.ErrRefused
	if errors.Is(err, syscall.ENOSPC) {
		kind = engine.ErrFull
	}
	return fmt.Errorf("%w: %w", kind, err)
}

// Defer leaves the acknowledgment of a commit to the goroutine that syncs, in the mode Batch (I2).
func (e *Engine) Defer(done func(error)) bool {
	if e.o.Sync == Batch {
		e.syncing.enqueue(done)
		return true
	}
	return false
}

// A delta for a key whose value is in Badger is folded when it is flushed, too late to refuse a commit that makes the
// value too long. So a flush remembers the keys of nearly too long values. Deltas for these, and long deltas, are
// folded when they are committed too, to see how long the value becomes. A flush merges MaxCommit bytes into a value
// at most, so no value becomes too long for Badger before its key is remembered.

// longKeys are keys whose values in Badger are nearly too long.
type longKeys struct {
	n    atomic.Int64
	mu   sync.Mutex
	keys map[string]bool
}

const (
	longValue   = 12 << 20  // from how many bytes on a value's key is remembered
	maxLongKeys = 4096      // keys that are remembered
	longDelta   = 256 << 10 // from how many bytes on a delta is folded when it is committed
)

// remember adds a key.
func (l *longKeys) remember(key []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keys == nil {
		l.keys = map[string]bool{}
	}
	if len(l.keys) < maxLongKeys {
		l.keys[string(key)] = true
		l.n.Store(int64(len(l.keys)))
	}
}

// has reports whether a key is remembered.
func (l *longKeys) has(key []byte) bool {
	if l.n.Load() == 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.keys[string(key)]
}

// checkGrowth refuses merges that make a value too long. They are in the memtable, which is not published yet.
func (e *Engine) checkGrowth(ops []engine.Op) error {
	for i := range ops {
		if ops[i].Kind != engine.Merge || len(ops[i].Value) < longDelta && !e.longKeys.has(ops[i].Key) {
			continue
		}
		_, err := e.Latest().Get(ops[i].Key, func(value []byte) error {
			if len(value) > memory.MaxCommit {
				return engine.ErrTooLarge
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
