package memory

import (
	"errors"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/publish"
	"github.com/cqld/cqld/store/engine/tree"
)

var (
	errEmptyKey   = errors.New("engine: a key is empty")
	errEmptyValue = errors.New("engine: a value is empty")
)

// checkOp refuses what the contract does not allow or a limit forbids.
func checkOp(op *engine.Op) error {
	switch {
	case len(op.Key) == 0:
		return errEmptyKey
	case len(op.Value) == 0 && op.Kind != engine.Delete:
		return errEmptyValue
	case len(op.Key) > maxKey || len(op.Value) > maxCommit:
		return engine.ErrTooLarge
	}
	return nil
}

// check refuses operations that are no commit, and counts their bytes.
func check(ops []engine.Op) (size int, err error) {
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

// Commit applies ops and calls done before it returns.
func (e *Engine) Commit(ops []engine.Op, done func(error)) {
	size, err := check(ops)
	e.mu.Lock()
	if e.closed.Load() {
		e.mu.Unlock()
		done(engine.ErrClosed)
		return
	}
	e.under.Add(1)
	if err == nil {
		err = e.commit(ops, size)
	}
	e.mu.Unlock()
	done(err)
	e.under.Add(-1)
}

// A commit with more than this takes long: readers go on with the tree before it.
const (
	manyOps   = 64
	manyBytes = 64 << 10
)

// commit applies ops, all or none. The lock is held.
func (e *Engine) commit(ops []engine.Op, size int) error {
	p := e.beginWriting(len(ops) > manyOps || size > manyBytes)
	err := e.apply(ops)
	clear(e.undo)
	if e.undo = e.undo[:0]; cap(e.undo) > 1024 {
		e.undo = nil
	}
	e.publish(p)
	return err
}

// beginWriting lets the tree be changed. It returns what publish needs, which publishes the changes.
func (e *Engine) beginWriting(long bool) *published {
	e.version++
	p := e.current.BeginWriting(long)
	if p == nil {
		e.tree.Detach()
	}
	return p
}

// publish lets reads begin on the tree as it is. p is what beginWriting has returned, or nil.
func (e *Engine) publish(p *published) {
	e.path.Forget()
	if e.closed.Load() {
		return
	}
	if p == nil {
		p = publish.New[version, struct{}]()
		p.Value.fold = e.fold
	}
	p.Value.tree, p.Value.number = e.tree, e.version
	e.current.Publish(p)
}

// undo is what a key held before an operation; none: nothing.
type undo struct {
	key []byte
	old tree.Row
}

// apply applies ops to the tree, all or none.
func (e *Engine) apply(ops []engine.Op) error {
	for i := range ops {
		old, err := e.applyOne(&ops[i])
		if err != nil {
			e.revert()
			return err
		}
		if i < len(ops)-1 {
			e.undo = append(e.undo, undo{ops[i].Key, old})
		}
	}
	return nil
}

// applyOne applies an operation and returns what the key held.
func (e *Engine) applyOne(op *engine.Op) (old tree.Row, err error) {
	if op.Kind == engine.Delete {
		return e.tree.Delete(op.Key, &e.path), nil
	}
	e.tree.Seek(op.Key, &e.path)
	if e.path.Found {
		old = e.path.Row()
	}
	var next tree.Row
	if op.Kind == engine.Merge && e.path.Found {
		if next, err = e.merge(old, op); err != nil {
			return old, err
		}
	} else {
		next = tree.NewRow(op.Key, op.Value)
	}
	e.tree.Put(&e.path, next)
	return old, nil
}

// revert takes back what a commit has changed.
func (e *Engine) revert() {
	for i := len(e.undo) - 1; i >= 0; i-- {
		u := &e.undo[i]
		if u.old.None() {
			e.tree.Delete(u.key, &e.path)
			continue
		}
		e.tree.Seek(u.key, &e.path)
		e.tree.Put(&e.path, u.old)
	}
}

// longValue is from how many bytes on a value gets a tail when something short is merged into it: a list that grows
// by one element at a time would be written anew each time.
const longValue = 16 << 10

// tailOf is how long the tail of a value may be before it is folded in.
func tailOf(value []byte) int { return max(2<<10, len(value)/32) }

// merge folds a delta into a row.
func (e *Engine) merge(old tree.Row, op *engine.Op) (tree.Row, error) {
	base, delta := old, op.Value
	if l := old.Long(); l != nil {
		var err error
		base = l.Base
		if delta, err = e.fold(nil, op.Key, l.Tail.Value(), delta); err != nil {
			return tree.Row{}, err
		}
	}
	value := base.Value()
	if len(value) >= longValue && len(delta) <= tailOf(value) && len(value)+len(delta) <= maxCommit {
		return tree.NewLongRow(base, tree.NewRow(op.Key, delta)), nil
	}
	value, err := e.folded.Fold(e.fold, op.Key, value, delta)
	if err == nil && len(value) > maxCommit {
		err = engine.ErrTooLarge
	}
	if err != nil {
		return tree.Row{}, err
	}
	return tree.NewRow(op.Key, value), nil
}

// rangeRows is how many rows DeleteRange removes at a time.
const rangeRows = 128

// DeleteRange removes the keys of a range, some at a time.
func (e *Engine) DeleteRange(start, end []byte) error {
	for {
		last, err := e.deleteSome(start, end)
		if err != nil || last.None() {
			return err
		}
		start = last.Key()
	}
}

// deleteSome removes the first keys of a range and returns the last of these, or none if none is left.
func (e *Engine) deleteSome(start, end []byte) (last tree.Row, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Load() {
		return tree.Row{}, engine.ErrClosed
	}
	var keys [rangeRows][]byte
	n := 0
	r := reader{tree: e.tree}
	_ = r.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
		keys[n] = key
		n++
		return n < rangeRows, nil
	})
	if n == 0 {
		return tree.Row{}, nil
	}
	p := e.beginWriting(false)
	for _, key := range keys[:n] {
		last = e.tree.Delete(key, &e.path)
	}
	e.publish(p)
	if n < rangeRows {
		last = tree.Row{}
	}
	return last, nil
}
