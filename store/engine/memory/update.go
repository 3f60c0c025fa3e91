package memory

import (
	"context"
	"errors"
	"sync"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/tree"
)

// attempts is how often an Update runs its function before it says that there is a conflict.
const attempts = 4

// Update runs fn on the last commit, and again if it conflicts with commits made meanwhile.
func (e *Engine) Update(ctx context.Context, _ [][]byte, fn func(engine.Txn) error, done func(error)) {
	e.under.Add(1) // a Close that comes later waits
	defer e.under.Add(-1)
	if e.closed.Load() {
		done(engine.ErrClosed)
		return
	}
	done(e.update(ctx, fn))
}

func (e *Engine) update(ctx context.Context, fn func(engine.Txn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := e.updating.Take(ctx); err != nil {
		return err
	}
	defer e.updating.Give()
	x := txns.Get().(*txn)
	defer x.release()
	for range attempts {
		if err := e.attempt(x, fn); err != errRepeat {
			return err
		}
		x.reset()
	}
	return engine.ErrConflict
}

// errRepeat says that an attempt of an update conflicts with a commit.
var errRepeat = errors.New("a key has changed")

// attempt runs fn and commits what it wrote, unless that undid what it did not see.
func (e *Engine) attempt(x *txn, fn func(engine.Txn) error) error {
	e.begin(x)
	defer x.leave() // fn may panic
	if err := errors.Join(fn(x), x.Err); err != nil {
		return err
	}
	size, err := check(x.Ops)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if x.version < e.restored || x.version != e.version && x.undoes(&e.tree) {
		return errRepeat
	}
	x.leave() // so that nodes can be changed in place
	return e.commit(x.Ops, size)
}

// begin starts a transaction on the last commit.
func (e *Engine) begin(x *txn) {
	if p, err := e.enter(); err == nil {
		x.reading, x.base, x.version = p, p.Value.reader, p.Value.number
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	x.base, x.version = reader{tree: e.tree, fold: e.fold}, e.version
	e.tree.Detach() // nobody counts readers when the engine is being closed
}

// txn reads what was committed when it began, and what it has written. It is reused with its buffers.
type txn struct {
	reading *published // counts the transaction as a reader; nil: nothing does
	base    reader
	version uint64
	own     *Engine // a fork of base with what was written; nil: nothing was read since something was written
	copied  int     // operations that it has
	engine.Writes
}

var _ engine.Lender = (*txn)(nil)

var txns = sync.Pool{New: func() any { return &txn{Writes: engine.Writes{Check: checkOp}} }}

// leave ends the reading of what was committed.
func (x *txn) leave() {
	if x.reading != nil {
		x.reading.Leave()
		x.reading = nil
	}
}

// reset forgets what was read and written.
func (x *txn) reset() {
	x.Reset()
	*x = txn{Writes: x.Writes}
}

// release gives the transaction back for reuse.
func (x *txn) release() {
	x.reset()
	txns.Put(x)
}

// undoes reports whether what it puts or deletes would undo a change that is in the tree.
func (x *txn) undoes(t *tree.Tree) bool {
	for i := range x.Ops {
		op := &x.Ops[i]
		if op.Kind != engine.Merge && x.base.tree.Get(op.Key) != t.Get(op.Key) {
			return true
		}
	}
	return false
}

// reader reads the transaction as it is.
func (x *txn) reader() (reader, error) {
	if len(x.Ops) == 0 {
		return x.base, nil
	}
	if x.own == nil {
		x.own = &Engine{fold: x.base.fold, tree: x.base.tree}
	}
	if x.copied < len(x.Ops) {
		x.own.tree.Detach() // a scan that is under way goes on with the nodes that it has
		for i := range x.Ops[x.copied:] {
			if _, err := x.own.applyOne(&x.Ops[x.copied+i]); err != nil {
				return reader{}, err
			}
		}
		x.copied = len(x.Ops)
	}
	return reader{tree: x.own.tree, fold: x.base.fold}, x.Err
}

// Get reads a key.
func (x *txn) Get(key []byte, fn func(value []byte) error) (bool, error) {
	r, err := x.reader()
	if err != nil {
		return false, err
	}
	return r.Get(key, fn)
}

// Scan reads a range.
func (x *txn) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	r, err := x.reader()
	if err != nil {
		return err
	}
	return r.Scan(start, end, o, fn)
}
