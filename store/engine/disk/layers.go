package disk

import (
	"slices"
	"sync/atomic"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/badger"
	"github.com/cqld/cqld/store/engine/tree"
)

// memtable is a tree that was not flushed yet.
type memtable struct {
	tree   tree.Tree
	number uint64 // counts memtables
	size   int64  // bytes of its rows, about
	last   uint64 // the sequence number of the last commit in it
}

func newMemtable(number uint64) memtable { return memtable{tree: tree.New(), number: number} }

// layers are what is below the tree that is written to.
type layers struct {
	frozen []*memtable      // that are not flushed, the newest first
	base   *badger.Snapshot // from when the oldest of them was frozen, or before
}

// oldestFirst are the frozen memtables in the order in which they are flushed.
func (l *layers) oldestFirst() []*memtable {
	all := slices.Clone(l.frozen)
	slices.Reverse(all)
	return all
}

// published is what reads begin on: a tree and what is below it. The writer takes it back before it changes nodes of
// the tree in place, which it does if nobody reads it. Otherwise it gives its tree another number, so that all nodes of
// this one stay as they are.
type published struct {
	view
	readers *readers
}

// readers counts who reads what was published. It stands alone, because it is needed longer than the tree.
type readers struct{ n atomic.Int64 }

// retired is what was published before and is still being read.
type retired struct {
	readers *readers
	base    *badger.Snapshot
}

// enter counts a read in, which has to call leave when it is done. A read counts itself before it looks whether the
// tree is still published, and the writer takes the tree back before it looks whether there are readers. So one of
// them sees the other.
func (e *Engine) enter() (*published, error) {
	if err := e.below.Damage(); err != nil {
		return nil, err
	}
	for {
		p := e.current.Load()
		if p == nil {
			return e.enterLocked()
		}
		p.readers.n.Add(1)
		if e.current.Load() == p {
			return p, nil
		}
		p.leave()
	}
}

// enterLocked is enter while a commit is being applied.
func (e *Engine) enterLocked() (*published, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, engine.ErrClosed
	}
	p := e.current.Load()
	p.readers.n.Add(1)
	return p, nil
}

func (p *published) leave() { p.readers.n.Add(-1) }

// beginWriting lets the tree be changed. It returns what publish needs, which publishes the changes. long says that
// readers go on with the tree before it meanwhile.
func (e *Engine) beginWriting(long bool) *published {
	e.version++
	p := e.current.Load()
	if !long {
		e.current.Store(nil)
	}
	switch {
	case p == nil || long:
	case p.readers.n.Load() != 0:
		e.retire(p)
	default:
		return p
	}
	e.memtable.tree.Detach()
	return nil
}

// publish lets reads begin on what there is. p is what beginWriting has returned, or nil.
func (e *Engine) publish(p *published) {
	e.path.Forget()
	if e.closed {
		return
	}
	if p == nil {
		p = &published{readers: new(readers)}
		p.fold = e.fold
	}
	p.tree, p.layers = e.memtable.tree, e.layers
	if before := e.current.Swap(p); before != nil && before != p {
		e.retire(before)
	}
}

// retire notes who reads what is not published any more.
func (e *Engine) retire(p *published) {
	if p.readers.n.Load() != 0 {
		e.left = append(e.left, retired{p.readers, p.layers.base})
	}
	if len(e.left) > 0 || len(e.oldBases) > 0 {
		e.forget()
	}
}

// forget drops what nobody reads any more.
func (e *Engine) forget() {
	e.left = slices.DeleteFunc(e.left, func(r retired) bool { return r.readers.n.Load() == 0 })
	e.oldBases = slices.DeleteFunc(e.oldBases, func(b *badger.Snapshot) bool {
		read := slices.ContainsFunc(e.left, func(r retired) bool { return r.base == b })
		if !read {
			b.Release()
		}
		return !read
	})
}

// freeze puts the tree that is written to below another one.
func (e *Engine) freeze() {
	m := e.memtable
	e.memtable = newMemtable(m.number + 1)
	e.memtable.last = m.last
	e.layers = &layers{frozen: append([]*memtable{&m}, e.layers.frozen...), base: e.layers.base}
}

// replaceLayers publishes other layers. The lock is held.
func (e *Engine) replaceLayers(l *layers) {
	if e.layers.base != l.base {
		e.oldBases = append(e.oldBases, e.layers.base)
	}
	p := e.beginWriting(true)
	e.layers = l
	e.publish(p)
	e.forget()
}
