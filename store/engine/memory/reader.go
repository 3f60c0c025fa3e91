package memory

import (
	"sync/atomic"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/tree"
)

// reader reads a tree that nobody changes meanwhile.
type reader struct {
	tree tree.Tree
	fold engine.Fold
}

// Get reads a key.
func (r *reader) Get(key []byte, fn func(value []byte) error) (bool, error) {
	found := r.tree.Get(key)
	if found.None() {
		return false, nil
	}
	value, err := r.value(found)
	if err != nil {
		return false, err
	}
	return true, fn(value)
}

// Scan reads a range.
func (r *reader) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	return r.tree.Scan(start, end, o.Reverse, func(found tree.Row) (more bool, err error) {
		if o.KeysOnly {
			return fn(found.Key(), nil)
		}
		value, err := r.value(found)
		if err != nil {
			return false, err
		}
		return fn(found.Key(), value)
	})
}

// value is what a row holds.
func (r *reader) value(found tree.Row) ([]byte, error) {
	l := found.Long()
	if l == nil {
		return found.Value(), nil
	}
	return r.fold(l.Base.Key(), l.Base.Value(), l.Tail.Value())
}

// published is the tree that reads begin on. The writer takes it back before it changes nodes of it in place, which it
// does if nobody reads it. Otherwise it gives its tree another number, so that all nodes of this one stay as they are.
type published struct {
	reader
	version uint64 // of the tree
	readers *readers
}

// readers counts who reads a published tree. It stands alone, because it is needed longer than the tree.
type readers struct{ n atomic.Int64 }

// enter counts a read in, which has to call leave when it is done. A read counts itself before it looks whether the
// tree is still published, and the writer takes the tree back before it looks whether there are readers. So one of
// them sees the other.
func (e *Engine) enter() (*published, error) {
	for {
		p := e.current.Load()
		if p == nil {
			return e.enterLocked()
		}
		if e.enterAt(p) {
			return p, nil
		}
	}
}

// enterAt counts a read in at a tree, unless it is not published any more.
func (e *Engine) enterAt(p *published) bool {
	p.readers.n.Add(1)
	if e.current.Load() == p {
		return true
	}
	p.leave()
	return false
}

// enterLocked is enter while a commit is being applied.
func (e *Engine) enterLocked() (*published, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Load() {
		return nil, engine.ErrClosed
	}
	p := e.current.Load()
	p.readers.n.Add(1)
	return p, nil
}

func (p *published) leave() { p.readers.n.Add(-1) }

// Get reads a key at the last commit.
func (e *Engine) Get(key []byte, fn func(value []byte) error) (bool, error) {
	p, err := e.enter()
	if err != nil {
		return false, err
	}
	defer p.leave()
	return p.Get(key, fn)
}

// Scan reads a range at the last commit.
func (e *Engine) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	p, err := e.enter()
	if err != nil {
		return err
	}
	defer p.leave()
	return p.Scan(start, end, o, fn)
}

// View runs fn on the last commit.
func (e *Engine) View(fn func(engine.Reader) error) error {
	p, err := e.enter()
	if err != nil {
		return err
	}
	defer p.leave()
	return fn(&p.reader)
}
