package disk

import (
	"slices"

	"github.com/cqld/cqld/internal/invariants"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/badger"
	"github.com/cqld/cqld/store/engine/publish"
	"github.com/cqld/cqld/store/engine/tree"
)

// memtable is a tree that was not flushed yet.
type memtable struct {
	tree   tree.Tree
	number uint64 // counts memtables
	size   int64  // bytes of its rows, about
	last   uint64 // the sequence number of the last commit in it
	folded engine.FoldBuffer
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

// published is what reads begin on: a tree and what is below it. A read of it holds a snapshot of Badger.
type published = publish.Version[view, *badger.Snapshot]

// enter counts a read in, which has to call Leave when it is done.
func (e *Engine) enter() (*published, error) {
	if err := e.below.Damage(); err != nil {
		return nil, err
	}
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

// beginWriting lets the tree be changed. It returns what publish needs, which publishes the changes. long says that
// readers go on with the tree before it meanwhile.
func (e *Engine) beginWriting(long bool) *published {
	e.version++
	p := e.current.BeginWriting(long)
	if p == nil {
		e.memtable.tree.Detach()
	}
	return p
}

// publish lets reads begin on what there is. p is what beginWriting has returned, or nil.
func (e *Engine) publish(p *published) {
	e.path.Forget()
	if e.closed {
		return
	}
	if p == nil {
		p = publish.New[view, *badger.Snapshot]()
		p.Value.fold = e.fold
	}
	p.Value.tree, p.Value.layers, p.Holds = e.memtable.tree, e.layers, e.layers.base
	e.current.Publish(p)
	if len(e.oldBases) > 0 {
		e.forget()
	}
}

// forget drops what nobody reads any more, and reports whether nobody reads what was published before.
func (e *Engine) forget() (all bool) {
	all = e.current.Forget()
	e.oldBases = slices.DeleteFunc(e.oldBases, func(b *badger.Snapshot) bool {
		held := e.current.IsHeld(b)
		if !held {
			b.Release()
		}
		return !held
	})
	return all
}

// freeze puts the tree that is written to below another one.
func (e *Engine) freeze() {
	m := e.memtable
	if invariants.Enabled {
		e.checkFrozen(&m)
	}
	e.memtable = newMemtable(m.number + 1)
	e.memtable.last = m.last
	e.layers = &layers{frozen: append([]*memtable{&m}, e.layers.frozen...), base: e.layers.base}
}

// checkFrozen panics unless a memtable that is being frozen is sound and newer than the frozen ones (I1).
func (e *Engine) checkFrozen(m *memtable) {
	_, _, err := m.tree.Check()
	invariants.Check(err == nil, "a memtable that is frozen: %v", err)
	number, last := m.number, m.last
	for _, older := range e.layers.frozen {
		invariants.Check(older.number < number && older.last <= last, "memtable %d with commits up to %d is frozen above "+
			"memtable %d with commits up to %d", number, last, older.number, older.last)
		number, last = older.number, older.last
	}
	invariants.Check(last >= e.inTables, "a frozen memtable ends with commit %d, tables with %d", last, e.inTables)
}

// replaceLayers publishes other layers. A memtable that is full may be frozen then. The lock is held.
func (e *Engine) replaceLayers(l *layers) {
	if e.layers.base != l.base {
		e.oldBases = append(e.oldBases, e.layers.base)
	}
	p := e.beginWriting(true)
	if e.layers = l; e.memtable.size >= e.o.Memtable {
		e.freeze()
		p = nil
	}
	e.publish(p)
	e.forget()
}
