package memory

import (
	"context"
	"errors"
	"sync"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/tree"
)

// attempts is how often an Update runs its function before it fails with a conflict.
const attempts = 4

// errRepeat is returned by an attempt of an update that conflicts with a commit.
var errRepeat = errors.New("a key has changed")

// Update runs fn on the last commit, and again if it conflicts with commits made meanwhile. A panic of fn is its error.
func (f *Front) Update(ctx context.Context, _ [][]byte, fn func(engine.Txn) error, done func(error)) {
	if err := f.Acquire(); err != nil {
		done(err)
		return
	}
	f.answer(f.update(ctx, fn), done)
}

func (f *Front) update(ctx context.Context, fn func(engine.Txn) error) (err error) {
	defer panics.Into(&err)
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case f.updating <- struct{}{}:
	default: // a select that may wait costs much more
		select {
		case f.updating <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer func() { <-f.updating }()
	x := txns.Get().(*txn)
	defer x.release()
	for range attempts {
		if err := f.attempt(x, engine.IsFreeing(ctx), fn); err != errRepeat {
			return err
		}
		x.reset()
	}
	return engine.ErrConflict
}

// attempt runs fn and commits its writes, unless they would undo a change that fn did not see.
func (f *Front) attempt(x *txn, freeing bool, fn func(engine.Txn) error) error {
	if err := f.beginTxn(x); err != nil {
		return err
	}
	defer x.leave()
	if err := errors.Join(fn(x), x.Err); err != nil {
		return err
	}
	size, err := f.check(x.Ops)
	if err != nil {
		return err
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.commit(x.Ops, size, freeing, x)
}

// beginTxn starts a transaction on the last commit. Its leave has to be called.
func (f *Front) beginTxn(x *txn) error {
	switch v, err := f.enter(); err {
	case nil:
		x.reading, x.base, x.change, x.memtable = v, v.view, v.change, v.memtable
	case engine.ErrClosed: // it is being closed, and readers are not counted any more
		f.Mu.Lock()
		defer f.Mu.Unlock()
		x.base, x.change, x.memtable = f.latest(), f.changes, f.Memtable.number
		f.Memtable.tree.Detach()
	default:
		return err
	}
	x.Check = f.checkOp
	if f.filter != nil {
		x.base.asks = f
	}
	return nil
}

// undoes reports whether a key that an update puts or deletes was changed since the update began. Where all that was
// written since may have been flushed, the answer is not known, and it is yes.
func (f *Front) undoes(x *txn) bool {
	latest := f.latest()
	for i := range x.Ops {
		op := &x.Ops[i]
		if op.Kind == engine.Merge {
			continue
		}
		if f.dropped >= x.memtable || x.base.newest(op.Key) != latest.newest(op.Key) {
			return true
		}
	}
	return false
}

// txn reads the version on which it began, with its own writes. It is reused with its buffers.
type txn struct {
	base     view
	reading  *version  // that it counts as a reader of, or nil
	change   uint64    // the last one that it reads
	memtable uint64    // the number of the one that was written to when it began
	own      *Memtable // a copy of base's with the writes up to copied; nil: nothing was read since something was written
	written  view      // base with the tree of own
	path     tree.Path
	copied   int // operations that own has
	engine.Writes
}

var _ engine.Lender = (*txn)(nil)

var txns = sync.Pool{New: func() any { return new(txn) }}

// leave ends the transaction's reading of a version.
func (x *txn) leave() {
	if x.reading != nil {
		x.reading.leave()
		x.reading = nil
	}
}

// reset forgets the reads and writes.
func (x *txn) reset() {
	x.Reset()
	x.path.Forget()
	x.base, x.written, x.reading, x.own, x.copied = view{}, view{}, nil, nil, 0
}

// release gives the transaction back for reuse.
func (x *txn) release() {
	x.reset()
	x.Check = nil
	txns.Put(x)
}

// current shows the transaction's snapshot with its writes so far.
func (x *txn) current() (*view, error) {
	if len(x.Ops) == 0 {
		return &x.base, nil
	}
	if x.own == nil {
		x.own = &Memtable{tree: x.base.tree}
	}
	if x.copied < len(x.Ops) {
		x.own.tree.Detach() // a scan that is under way goes on with the nodes that it has
		for i := range x.Ops[x.copied:] {
			if err := x.own.apply(&x.path, &x.Ops[x.copied+i], x.base.fold, nil); err != nil {
				return nil, err
			}
		}
		x.copied = len(x.Ops)
	}
	x.written = x.base
	x.written.tree = x.own.tree
	return &x.written, x.Err
}

// Get reads a key.
func (x *txn) Get(key []byte, fn func(value []byte) error) (bool, error) {
	v, err := x.current()
	if err != nil {
		return false, err
	}
	return v.Get(key, fn)
}

// Scan reads a range.
func (x *txn) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	v, err := x.current()
	if err != nil {
		return err
	}
	return v.Scan(start, end, o, fn)
}
