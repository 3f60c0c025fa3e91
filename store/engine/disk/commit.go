package disk

// No acknowledged write is lost because these invariants hold. Comments refer to them by number.
//
//	I1  Commits have consecutive sequence numbers, in the order of their records in the log. Memtables divide this order:
//	    a memtable has the commits after the last one of the memtable frozen before it, up to its own last.
//	I2  A commit is acknowledged after its record is in the log, and in the mode Batch after the log is synced. A commit
//	    whose record could not be appended leaves no trace in the memtable.
//	I3  Nothing of a memtable is given to Badger before the log is synced up to the memtable's last commit. So after a
//	    power cut tables have no part of a commit that the log lacks.
//	I4  Memtables are flushed in the order in which they were frozen, each as a whole. The marker that completes a flush
//	    names its last commit, and is synced after everything else of the flush.
//	I5  A segment of the log is removed when a complete flush has all its commits.
//	I6  A reader sees the memtable, the frozen memtables from the newest to the oldest, and a snapshot of Badger that was
//	    made after the flush before the oldest of them, and before its own flush. These are replaced together.
//	I7  Recovery replays the commits after the last complete flush. Badger may have some of their rows, from a flush that
//	    was not completed: putting, deleting or merging these a second time changes nothing.

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/cqld/cqld/internal/invariants"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/badger"
	"github.com/cqld/cqld/store/engine/tree"
)

var errEmptyValue = errors.New("engine: a value is empty")

// checkOp refuses what the contract does not allow or a limit forbids.
func checkOp(op *engine.Op) error {
	if len(op.Value) == 0 && op.Kind != engine.Delete {
		return errEmptyValue
	}
	if len(op.Value) > maxCommit {
		return engine.ErrTooLarge
	}
	return badger.CheckKey(op.Key)
}

// check refuses operations that are no commit, and counts their bytes.
func (e *Engine) check(ops []engine.Op) (size int, err error) {
	for i := range ops {
		if err := checkOp(&ops[i]); err != nil {
			return 0, err
		}
		size += len(ops[i].Key) + len(ops[i].Value)
	}
	if size > maxCommit || len(ops) > maxOps {
		return 0, engine.ErrTooLarge
	}
	return size, nil
}

// Commit applies ops and appends them to the log. In the mode Periodic it calls done before it returns.
func (e *Engine) Commit(ops []engine.Op, done func(error)) {
	e.commitAll(ops, !slices.ContainsFunc(ops, func(op engine.Op) bool { return op.Kind != engine.Delete }), done)
}

// CommitFreeing is Commit of operations that lead to space being freed.
func (e *Engine) CommitFreeing(ops []engine.Op, done func(error)) { e.commitAll(ops, true, done) }

func (e *Engine) commitAll(ops []engine.Op, freeing bool, done func(error)) {
	size, err := e.check(ops)
	var b *big
	if size > bigCommit && err == nil {
		e.big.Lock()
		defer e.big.Unlock()
		b = e.prepare(ops)
		defer b.free()
	}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		done(engine.ErrClosed)
		return
	}
	e.under.Add(1)
	if err == nil {
		err = e.commit(ops, size, freeing, b, nil)
	}
	e.mu.Unlock()
	e.answer(err, done)
}

// answer calls done when what was committed is as durable as it has to be.
func (e *Engine) answer(err error, done func(error)) {
	if err == nil && e.o.Sync == Batch {
		e.syncing.add(done)
		return
	}
	done(err)
	e.under.Add(-1)
}

// A commit with more than this takes long: readers go on with the tree before it.
const (
	manyOps   = 64
	manyBytes = 64 << 10
)

// commit applies ops, all or none, and appends them to the log. It waits without the lock, until there is room. b is
// what was made of them before, and x the update that they are of; both may be nil.
func (e *Engine) commit(ops []engine.Op, size int, freeing bool, b *big, x *txn) error {
	if len(ops) == 0 {
		return nil
	}
	if err := e.waitForRoom(ops, size, freeing); err != nil {
		return err
	}
	if x != nil {
		if x.version != e.version && e.undoes(x) {
			return errRepeat
		}
		x.leave() // so that nodes can be changed in place
	}
	wants, err := e.append(ops, len(ops) > manyOps || size > manyBytes, b)
	if wants {
		e.wake(e.making)
	}
	return err
}

// append applies ops and appends them to the log, or does neither.
func (e *Engine) append(ops []engine.Op, long bool, b *big) (wantsSegment bool, err error) {
	p := e.beginWriting(long)
	if err = e.apply(ops, b); err == nil {
		err = e.checkGrowth(ops, b)
	}
	if err == nil {
		if b == nil {
			wantsSegment, err = e.log.Append(ops)
		} else {
			wantsSegment, err = e.log.AppendRecord(ops, b.record)
		}
		if err != nil {
			err = refusal(err)
		}
	}
	if err != nil {
		e.revert() // I2
	} else {
		last, next := e.memtable.last, e.log.Last()
		invariants.Check(next == last+1, "commit %d follows commit %d", next, last) // I1
		if e.memtable.last = next; e.memtable.size >= e.o.Memtable && len(e.layers.frozen) < maxFrozen {
			e.freeze()
			p = nil
			e.wake(e.flushing)
		}
	}
	e.forgetUndo()
	e.publish(p)
	return wantsSegment, err
}

// refusal says why nothing can be written.
func refusal(err error) error {
	kind := engine.ErrRefused
	if errors.Is(err, syscall.ENOSPC) {
		kind = engine.ErrFull
	}
	return fmt.Errorf("%w: %w", kind, err)
}

// undo is what a key held before an operation; none: nothing.
type undo struct {
	key []byte
	old tree.Row
}

// apply applies ops to the tree. If it fails, those before are applied.
func (e *Engine) apply(ops []engine.Op, b *big) error {
	for i := range ops {
		old, err := apply(&e.memtable, &e.path, &ops[i], b.row(i), e.fold, e.first)
		if err != nil {
			return err
		}
		e.undo = append(e.undo, undo{ops[i].Key, old})
	}
	return nil
}

// isFirst notes that a key is put or merged into that the tree does not have, or has as deleted, and reports whether it
// certainly never was written before. Of a key that is put it says nothing where no key of its group was merged into:
// the keys of indexes and views would take much of the filter's memory.
func (e *Engine) isFirst(kind engine.OpKind, key []byte) (bool, error) {
	if kind == engine.Put && !e.filter.knows(key) {
		return false, nil
	}
	below := view{tree: e.memtable.tree, layers: e.layers, fold: e.fold}
	return e.filter.write(key, hashKey(key), &below)
}

// isLacking reports whether a key was certainly not there in an era of the filter and since.
func (e *Engine) isLacking(key []byte, era uint64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.filter.lacks(key, era)
}

// apply applies an operation to a memtable and returns what the key held. made is the operation's row, or none. first
// is asked about keys that the memtable does not have, and told of those that it has as deleted; nil: nothing is known.
func apply(
	m *memtable, path *tree.Path, op *engine.Op, made tree.Row, fold engine.Fold,
	first func(kind engine.OpKind, key []byte) (bool, error),
) (old tree.Row, err error) {
	m.tree.Seek(op.Key, path)
	if path.Found {
		old = path.Row()
	}
	isFirst := false
	if first != nil && op.Kind != engine.Delete && (!path.Found || kindOf(old) == deleted) {
		if isFirst, err = first(op.Kind, op.Key); err != nil {
			return old, err
		}
		isFirst = isFirst && !path.Found
	}
	k := holds
	if isFirst || path.Found && kindOf(old) == fresh {
		k = fresh
	}
	var next tree.Row
	switch {
	case op.Kind == engine.Delete && k == fresh:
		m.tree.Delete(op.Key, path)
		m.size -= sizeOf(old)
		return old, nil
	case op.Kind == engine.Delete:
		next = newRow(deleted, op.Key, nil)
	case op.Kind == engine.Put || isFirst:
		next = rowOf(k, op, made)
	case path.Found:
		if next, err = m.mergeInto(old, op.Key, op.Value, fold); err != nil {
			return old, err
		}
	default:
		next = rowOf(merged, op, made)
	}
	m.tree.Put(path, next)
	m.size += sizeOf(next) - sizeOf(old)
	return old, nil
}

// revert takes back what a commit has changed.
func (e *Engine) revert() {
	m := &e.memtable
	for i := len(e.undo) - 1; i >= 0; i-- {
		u := &e.undo[i]
		if u.old.None() {
			m.size -= sizeOf(m.tree.Delete(u.key, &e.path))
			continue
		}
		m.tree.Seek(u.key, &e.path)
		if m.size += sizeOf(u.old); e.path.Found {
			m.size -= sizeOf(e.path.Row())
		}
		m.tree.Put(&e.path, u.old)
	}
	e.undo = e.undo[:0]
}

// forgetUndo lets go of what could be taken back.
func (e *Engine) forgetUndo() {
	clear(e.undo)
	if e.undo = e.undo[:0]; cap(e.undo) > 1024 {
		e.undo = nil
	}
}

// DeleteRange removes keys in commits of a few thousand.
func (e *Engine) DeleteRange(start, end []byte) error {
	const step = 2000
	for {
		var ops []engine.Op
		err := e.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
			ops = append(ops, engine.Op{Kind: engine.Delete, Key: append([]byte(nil), key...)})
			return len(ops) < step, nil
		})
		if err != nil {
			return err
		}
		if len(ops) == 0 {
			e.mu.Lock()
			e.filter.forget(start)
			e.mu.Unlock()
			return nil
		}
		result := make(chan error, 1)
		e.Commit(ops, func(err error) { result <- err })
		if err := <-result; err != nil {
			return err
		}
		start = append(ops[len(ops)-1].Key, 0)
	}
}
