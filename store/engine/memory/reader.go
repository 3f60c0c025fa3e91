package memory

import (
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/keys"
	"github.com/cqld/cqld/store/engine/publish"
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

// GetMany reads keys.
func (r *reader) GetMany(all [][]byte, fn func(i int, value []byte) (bool, error)) error {
	var rows [keys.AtOnce]tree.Row
	for from := 0; from < len(all); from += len(rows) {
		some := all[from:min(from+len(rows), len(all))]
		r.tree.GetSeveral(some, &rows)
		for i := range some {
			var value []byte
			if !rows[i].None() {
				var err error
				if value, err = r.value(rows[i]); err != nil {
					return err
				}
			}
			if more, err := fn(from+i, value); err != nil || !more {
				return err
			}
		}
	}
	return nil
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
	return r.fold(nil, l.Base.Key(), l.Base.Value(), l.Tail.Value())
}

// published is what reads begin on.
type published = publish.Version[version, struct{}]

// version is a tree and its number.
type version struct {
	reader
	number uint64
}

// enter counts a read in, which has to call Leave when it is done.
func (e *Engine) enter() (*published, error) {
	if p := e.current.Enter(); p != nil {
		return p, nil
	}
	e.mu.Lock() // a commit is being applied
	defer e.mu.Unlock()
	if p := e.current.EnterLast(); p != nil {
		return p, nil
	}
	return nil, engine.ErrClosed
}

// Get reads a key at the last commit.
func (e *Engine) Get(key []byte, fn func(value []byte) error) (bool, error) {
	p, err := e.enter()
	if err != nil {
		return false, err
	}
	defer p.Leave()
	return p.Value.Get(key, fn)
}

// Scan reads a range at the last commit.
func (e *Engine) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	p, err := e.enter()
	if err != nil {
		return err
	}
	defer p.Leave()
	return p.Value.Scan(start, end, o, fn)
}

// View runs fn on the last commit.
func (e *Engine) View(fn func(engine.Reader) error) error {
	p, err := e.enter()
	if err != nil {
		return err
	}
	defer p.Leave()
	return fn(&p.Value.reader)
}
