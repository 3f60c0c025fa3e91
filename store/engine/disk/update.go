package disk

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
	if err := e.take(); err != nil {
		done(err)
		return
	}
	e.answer(e.update(ctx, fn), done)
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
		if err := e.attempt(x, engine.IsFreeing(ctx), fn); err != errRepeat {
			return err
		}
		x.reset()
	}
	return engine.ErrConflict
}

// take counts an update in, which a Close that comes later waits for.
func (e *Engine) take() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return engine.ErrClosed
	}
	e.under.Add(1)
	return nil
}

// errRepeat says that an attempt of an update conflicts with a commit.
var errRepeat = errors.New("a key has changed")

// attempt runs fn and commits what it wrote, unless that undid what it did not see.
func (e *Engine) attempt(x *txn, freeing bool, fn func(engine.Txn) error) error {
	e.begin(x)
	defer x.leave() // fn may panic
	if err := errors.Join(fn(x), x.Err); err != nil {
		return err
	}
	size, err := e.check(x.Ops)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.commit(x.Ops, size, freeing, nil, x)
}

// begin starts a transaction on the last commit. Its leave has to be called.
func (e *Engine) begin(x *txn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	x.version, x.memtable = e.version, e.memtable.number
	x.base = view{tree: e.memtable.tree, layers: e.layers, fold: e.fold, lacks: e.lacks, era: e.filter.era}
	if x.read = e.current.EnterLast(); x.read == nil {
		e.memtable.tree.Detach() // nobody counts readers when the engine is being closed
	}
}

// leave ends its reading.
func (x *txn) leave() {
	if x.read != nil {
		x.read.Leave()
		x.read = nil
	}
}

// reset forgets what was read and written.
func (x *txn) reset() {
	x.Reset()
	x.path.Forget()
	x.base, x.read, x.own, x.copied = view{}, nil, nil, 0
}

// release gives the transaction back for reuse.
func (x *txn) release() {
	x.reset()
	txns.Put(x)
}

// txn reads what was committed when it began, and what it has written. It is reused with its buffers.
type txn struct {
	base     view
	read     *published // that it counts as a reader of, or nil
	version  uint64
	memtable uint64    // the number of the one that was written to when it began
	own      *memtable // a copy of base's with what was written; nil: nothing was read since something was written
	path     tree.Path
	copied   int // operations that it has
	engine.Writes
}

var _ engine.Lender = (*txn)(nil)

var txns = sync.Pool{New: func() any { return &txn{Writes: engine.Writes{Check: checkOp}} }}

// undoes reports whether what an update puts or deletes would undo a change that was made since it began. Where
// everything that was written meanwhile may have been flushed, it cannot be told.
func (e *Engine) undoes(x *txn) bool {
	latest := view{tree: e.memtable.tree, layers: e.layers}
	for i := range x.Ops {
		op := &x.Ops[i]
		if op.Kind == engine.Merge {
			continue
		}
		if e.dropped >= x.memtable || x.base.top(op.Key) != latest.top(op.Key) {
			return true
		}
	}
	return false
}

// reader reads the transaction as it is.
func (x *txn) reader() (view, error) {
	if len(x.Ops) == 0 {
		return x.base, nil
	}
	if x.own == nil {
		x.own = &memtable{tree: x.base.tree}
	}
	if x.copied < len(x.Ops) {
		x.own.tree.Detach() // a scan that is under way goes on with the nodes that it has
		for i := range x.Ops[x.copied:] {
			if _, err := apply(x.own, &x.path, &x.Ops[x.copied+i], tree.Row{}, x.base.fold, nil); err != nil {
				return view{}, err
			}
		}
		x.copied = len(x.Ops)
	}
	own := x.base
	own.tree = x.own.tree
	return own, x.Err
}

// Get reads a key.
func (x *txn) Get(key []byte, fn func(value []byte) error) (bool, error) {
	v, err := x.reader()
	if err != nil {
		return false, err
	}
	return v.Get(key, fn)
}

// Scan reads a range.
func (x *txn) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	v, err := x.reader()
	if err != nil {
		return err
	}
	return v.Scan(start, end, o, fn)
}
