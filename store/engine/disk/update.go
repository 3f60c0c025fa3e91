package disk

import (
	"context"
	"errors"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/tree"
)

// attempts is how often an Update runs its function before it says that there is a conflict.
const attempts = 4

// Update runs fn on the last commit, and again if it conflicts with commits made meanwhile.
func (e *Engine) Update(ctx context.Context, _ []byte, fn func(engine.Txn) error, done func(error)) {
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
	select {
	case e.updating <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-e.updating }()
	for range attempts {
		if err := e.attempt(fn); !errors.Is(err, errRepeat) {
			return err
		}
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
func (e *Engine) attempt(fn func(engine.Txn) error) error {
	x := e.begin()
	defer x.leave() // fn may panic
	if err := errors.Join(fn(x), x.err); err != nil {
		return err
	}
	size, err := e.check(x.ops)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.commit(x.ops, size, x)
}

// begin makes a transaction on the last commit. Its leave has to be called.
func (e *Engine) begin() *txn {
	e.mu.Lock()
	defer e.mu.Unlock()
	x := &txn{
		engine: e, version: e.version, memtable: e.memtable.number,
		base: view{tree: e.memtable.tree, layers: e.layers, fold: e.fold},
	}
	if x.read = e.current.Load(); x.read != nil {
		x.read.readers.n.Add(1)
	} else {
		e.memtable.tree.Detach() // nobody counts readers when the engine is being closed
	}
	return x
}

// leave ends its reading.
func (x *txn) leave() {
	if x.read != nil {
		x.read.leave()
		x.read = nil
	}
}

// txn reads what was committed when it began, and what it has written.
type txn struct {
	engine   *Engine
	base     view
	read     *published // that it counts as a reader of, or nil
	version  uint64
	memtable uint64    // the number of the one that was written to when it began
	own      *memtable // a copy of base's with what was written; nil: nothing was read since something was written
	path     tree.Path
	copied   int // operations that it has
	ops      []engine.Op
	buffer   []byte // of their keys and values
	err      error  // the first
}

// undoes reports whether what an update puts or deletes would undo a change that was made since it began. Where
// everything that was written meanwhile may have been flushed, it cannot be told.
func (e *Engine) undoes(x *txn) bool {
	latest := view{tree: e.memtable.tree, layers: e.layers}
	for i := range x.ops {
		op := &x.ops[i]
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
	if len(x.ops) == 0 {
		return x.base, nil
	}
	if x.own == nil {
		x.own = &memtable{tree: x.base.tree}
	}
	if x.copied < len(x.ops) {
		x.own.tree.Detach() // a scan that is under way goes on with the nodes that it has
		for i := range x.ops[x.copied:] {
			if _, err := apply(x.own, &x.path, &x.ops[x.copied+i], x.base.fold, nil); err != nil {
				return view{}, err
			}
		}
		x.copied = len(x.ops)
	}
	return view{tree: x.own.tree, layers: x.base.layers, fold: x.base.fold}, x.err
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

// Put sets the value of a key.
func (x *txn) Put(key, value []byte) { x.write(engine.Put, key, value) }

// Delete removes a key.
func (x *txn) Delete(key []byte) { x.write(engine.Delete, key, nil) }

// Merge folds a delta into the value of a key.
func (x *txn) Merge(key, delta []byte) { x.write(engine.Merge, key, delta) }

func (x *txn) write(kind engine.OpKind, key, value []byte) {
	at := len(x.buffer)
	x.buffer = append(append(x.buffer, key...), value...)
	middle, end := at+len(key), len(x.buffer)
	op := engine.Op{Kind: kind, Key: x.buffer[at:middle:middle], Value: x.buffer[middle:end:end]}
	if err := x.engine.checkOp(&op); err != nil {
		if x.err == nil {
			x.err = err
		}
		return
	}
	x.ops = append(x.ops, op)
}
