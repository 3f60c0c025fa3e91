package memory

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/tree"
)

// Limits of a commit. A value has the length that Cassandra takes. The number of operations bounds the memory of a
// statement before it is refused.
const (
	MaxCommit = 16 << 20 // bytes, of a value too
	MaxOps    = 1 << 17
)

// largeCommit is from how many bytes on commits are applied one at a time, so that a small one waits for the lock
// until one of them is applied at most, and not until all are.
const largeCommit = 256 << 10

var errEmptyValue = errors.New("engine: a value is empty")

// refuse refuses an operation that the contract does not allow or a limit forbids.
func (f *Front) refuse(op *engine.Op) error {
	switch {
	case len(op.Value) == 0 && op.Kind != engine.Delete:
		return errEmptyValue
	case len(op.Value) > MaxCommit:
		return engine.ErrTooLarge
	}
	return f.below.CheckKey(op.Key)
}

// check refuses operations that are no commit, and counts their bytes.
func (f *Front) check(ops []engine.Op) (size int, err error) {
	for i := range ops {
		if err := f.refuse(&ops[i]); err != nil {
			return 0, err
		}
		size += len(ops[i].Key) + len(ops[i].Value)
	}
	if size > MaxCommit || len(ops) > MaxOps {
		return 0, engine.ErrTooLarge
	}
	return size, nil
}

// Commit applies ops. It calls done before it returns, unless Below defers that.
func (f *Front) Commit(ops []engine.Op, done func(error)) {
	f.checkAndCommit(ops, !slices.ContainsFunc(ops, func(op engine.Op) bool { return op.Kind != engine.Delete }), done)
}

// CommitFreeing is Commit of operations that lead to space being freed.
func (f *Front) CommitFreeing(ops []engine.Op, done func(error)) { f.checkAndCommit(ops, true, done) }

func (f *Front) checkAndCommit(ops []engine.Op, freeing bool, done func(error)) {
	if err := f.Acquire(); err != nil {
		done(err)
		return
	}
	f.answer(f.lockAndCommit(ops, freeing), done)
}

func (f *Front) lockAndCommit(ops []engine.Op, freeing bool) (err error) {
	defer panics.Into(&err)
	size, err := f.check(ops)
	if err != nil {
		return err
	}
	if size > largeCommit {
		f.large.Lock()
		defer f.large.Unlock()
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.commit(ops, size, freeing, nil)
}

// answer calls done when a commit is as durable as it has to be.
func (f *Front) answer(err error, done func(error)) {
	if err == nil && f.below.Defer(done) {
		return
	}
	defer f.Release(1)
	done(err)
}

// While a commit with more than this is applied, readers enter the version before it.
const (
	slowOps   = 64
	slowBytes = 64 << 10
)

// commit applies ops, all or none. It may wait, without the lock. x is the update that wrote them, or nil.
func (f *Front) commit(ops []engine.Op, size int, freeing bool, x *txn) error {
	if x != nil && x.change < f.restored {
		return errRepeat
	}
	if len(ops) == 0 {
		return nil
	}
	if err := f.below.Admit(ops, size, freeing); err != nil {
		return err
	}
	if err := f.Refused(); err != nil {
		return err
	}
	if x != nil {
		if x.change != f.changes && f.undoes(x) {
			return errRepeat
		}
		x.leave() // so that nodes can be changed in place
	}
	refused, broken := f.write(ops, size)
	if broken != nil {
		return f.breakOff(broken)
	}
	return refused
}

// write applies ops, makes them durable and publishes them, or reverts them with the reason. broken is a panic: the
// memtable may be half changed.
func (f *Front) write(ops []engine.Op, size int) (refused, broken error) {
	defer panics.Into(&broken)
	v := f.beginWriting(len(ops) > slowOps || size > slowBytes)
	err := f.apply(ops)
	full := false
	if err == nil {
		full, err = f.below.Append(ops)
	}
	if err != nil {
		f.revert()
	} else if full {
		f.freeze()
		v = nil
	}
	f.forgetUndo()
	f.publish(v)
	return err, nil
}

// breakOff ends all commits after one that panicked. The log may have it, so its outcome is unknown. Reads go on with
// the state before it, if that can be restored: the tree may have lost more than the keys of the commit.
func (f *Front) breakOff(broken error) error {
	f.Fail(broken)
	restored := panics.Call(func() error {
		f.revert()
		_, _, err := f.Memtable.tree.Check()
		return err
	})
	f.torn = restored != nil
	f.forgetUndo()
	f.publish(nil)
	f.Changed.Broadcast()
	return fmt.Errorf("%w: %w", engine.ErrUnknown, broken)
}

// Replay applies a commit that is in the log. No reader is there yet.
func (f *Front) Replay(ops []engine.Op) error {
	v := f.beginWriting(false)
	err := f.apply(ops)
	f.forgetUndo()
	f.publish(v)
	return err
}

// undo is the row of a key before an operation; none: it had no row.
type undo struct {
	key []byte
	old tree.Row
}

// apply applies ops to the memtable. If it fails, those before are applied.
func (f *Front) apply(ops []engine.Op) error {
	for i := range ops {
		if err := f.Memtable.apply(&f.path, &ops[i], f.fold, f); err != nil {
			return err
		}
	}
	return nil
}

// isNew reports whether no layer has a key that the memtable does not have, or has as deleted; false if that is not
// known. It adds the key to the filter. A key that is put is not added to a group that has no filter yet: the keys of
// indexes and views would take much of the filter's memory.
func (f *Front) isNew(kind engine.OpKind, key []byte) (bool, error) {
	switch {
	case f.Layers.Base == nil:
		return true, nil
	case kind == engine.Delete || kind == engine.Put && !f.filter.knows(key):
		return false, nil
	}
	return f.filter.write(key, hashKey(key), f.Latest())
}

// apply applies an operation. f tells which keys are new, and notes how to undo the operation; nil: no key is known to
// be new.
func (m *Memtable) apply(path *tree.Path, op *engine.Op, fold engine.Fold, f *Front) (err error) {
	var old tree.Row
	m.tree.Seek(op.Key, path)
	if path.Found {
		old = path.Row()
	}
	isNew := false
	if f != nil && (!path.Found || kindOf(old) == deleted) {
		if isNew, err = f.isNew(op.Kind, op.Key); err != nil {
			return err
		}
		isNew = isNew && !path.Found
	}
	k := holds
	if isNew || path.Found && kindOf(old) == fresh {
		k = fresh
	}
	var next tree.Row // none: the row is removed
	switch {
	case op.Kind == engine.Delete && k == fresh:
	case op.Kind == engine.Delete:
		next = newRow(deleted, op.Key, nil)
	case op.Kind == engine.Put || isNew:
		next = newRow(k, op.Key, op.Value)
	case path.Found:
		if next, err = m.mergeInto(old, op.Key, op.Value, fold); err != nil {
			return err
		}
	default:
		next = newRow(merged, op.Key, op.Value)
	}
	if f != nil {
		f.undo = append(f.undo, undo{op.Key, old}) // first, because a change of the tree that panics may be half done
	}
	switch {
	case !next.None():
		m.tree.Put(path, next)
	case path.Found:
		m.tree.Remove(path)
	}
	m.Size += sizeOf(next) - sizeOf(old)
	return nil
}

// revert undoes the changes of a commit.
func (f *Front) revert() {
	m := &f.Memtable
	for i := len(f.undo) - 1; i >= 0; i-- {
		u := &f.undo[i]
		m.tree.Seek(u.key, &f.path)
		if f.path.Found {
			m.Size -= sizeOf(f.path.Row())
		}
		if !u.old.None() {
			m.tree.Put(&f.path, u.old)
			m.Size += sizeOf(u.old)
		} else if f.path.Found {
			m.tree.Remove(&f.path)
		}
	}
}

// forgetUndo drops the references to old rows, and keeps memory of usual size.
func (f *Front) forgetUndo() {
	clear(f.undo)
	if f.undo = f.undo[:0]; cap(f.undo) > 1024 {
		f.undo = nil
	}
}

// DeleteRange removes keys in commits of a few thousand.
func (f *Front) DeleteRange(start, end []byte) error {
	const step = 2000
	for first := start; ; {
		var ops []engine.Op
		err := f.Scan(first, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
			ops = append(ops, engine.Op{Kind: engine.Delete, Key: slices.Clone(key)})
			return len(ops) < step, nil
		})
		if err != nil {
			return err
		}
		if len(ops) == 0 {
			f.forgetKeys(start)
			return nil
		}
		result := make(chan error, 1)
		f.Commit(ops, func(err error) { result <- err })
		if err := <-result; err != nil {
			return err
		}
		first = append(ops[len(ops)-1].Key, 0)
	}
}

// forgetKeys makes the filter forget keys that DeleteRange has removed.
func (f *Front) forgetKeys(start []byte) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.filter != nil {
		f.filter.forget(start)
	}
}
