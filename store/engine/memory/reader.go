package memory

import (
	"bytes"
	"slices"
	"sync"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/tree"
)

// view reads a tree that is not changed meanwhile, and the layers below it.
type view struct {
	tree   tree.Tree
	layers *Layers
	fold   engine.Fold
	era    uint64 // of the filter, when the view was published
	asks   *Front // whose filter is asked before layers are read, which only updates do; or nil
}

// latest is the state of the engine. Mu is held.
func (f *Front) latest() view {
	v := view{tree: f.Memtable.tree, layers: f.Layers, fold: f.fold}
	if f.filter != nil {
		v.era = f.filter.era
	}
	return v
}

// Latest reads the state of the memtable, including changes that are not published yet. The caller holds Mu.
func (f *Front) Latest() engine.Reader { return unpublished{f} }

type unpublished struct{ f *Front }

// Get reads a key.
func (u unpublished) Get(key []byte, fn func(value []byte) error) (bool, error) {
	v := u.f.latest()
	return v.Get(key, fn)
}

// Scan reads a range.
func (u unpublished) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	v := u.f.latest()
	return v.Scan(start, end, o, fn)
}

// Get reads a key at the last commit.
func (f *Front) Get(key []byte, fn func(value []byte) error) (bool, error) {
	v, err := f.enter()
	if err != nil {
		return false, err
	}
	defer v.leave()
	return v.Get(key, fn)
}

// Scan reads a range at the last commit.
func (f *Front) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	v, err := f.enter()
	if err != nil {
		return err
	}
	defer v.leave()
	return v.Scan(start, end, o, fn)
}

// View runs fn on the last commit.
func (f *Front) View(fn func(engine.Reader) error) error {
	v, err := f.enter()
	if err != nil {
		return err
	}
	defer v.leave()
	return fn(&v.view)
}

// memtables is how many memtables the view reads.
func (v *view) memtables() int { return 1 + len(v.layers.Frozen) }

// treeAt is the tree of a memtable, of which 0 is the newest.
func (v *view) treeAt(i int) *tree.Tree {
	if i == 0 {
		return &v.tree
	}
	return &v.layers.Frozen[i-1].tree
}

// newest is the newest row of a key in a memtable, or none.
func (v *view) newest(key []byte) (r tree.Row) {
	for i := 0; r.None() && i < v.memtables(); i++ {
		r = v.treeAt(i).Get(key)
	}
	return r
}

// Get reads a key. Its newest row decides, unless that is a delta.
func (v *view) Get(key []byte, fn func(value []byte) error) (bool, error) {
	for i := range v.memtables() {
		r := v.treeAt(i).Get(key)
		if r.None() {
			continue
		}
		k, value, err := content(r, v.fold)
		switch {
		case err != nil:
			return false, err
		case k == merged:
			return v.getMerged(i+1, key, value, fn)
		case k == deleted:
			return false, nil
		}
		return true, fn(value)
	}
	if v.layers.Base == nil || v.asks != nil && v.asks.lacks(key, v.era) {
		return false, nil
	}
	return v.layers.Base.Get(key, fn)
}

// getMerged reads a key whose newest row is a delta. The deltas down to the first layer that knows the key's value are
// folded into it. next is the first memtable that was not looked into.
func (v *view) getMerged(next int, key, delta []byte, fn func(value []byte) error) (bool, error) {
	deltas := [][]byte{delta}
	for ; next < v.memtables(); next++ {
		r := v.treeAt(next).Get(key)
		if r.None() {
			continue
		}
		k, value, err := content(r, v.fold)
		if err != nil {
			return false, err
		}
		if k != merged {
			return v.foldAll(k != deleted, key, value, deltas, fn)
		}
		deltas = append(deltas, value)
	}
	if v.layers.Base != nil {
		found, err := v.layers.Base.Get(key, func(value []byte) error {
			_, err := v.foldAll(true, key, value, deltas, fn)
			return err
		})
		if found || err != nil {
			return found, err
		}
	}
	return v.foldAll(false, key, nil, deltas, fn)
}

// foldAll calls fn with a value, if the key has one, and deltas folded into it. The newest delta is the first.
func (v *view) foldAll(has bool, key, value []byte, deltas [][]byte, fn func(value []byte) error) (bool, error) {
	for _, delta := range slices.Backward(deltas) {
		if !has {
			has, value = true, delta
			continue
		}
		var err error
		if value, err = v.fold(nil, key, value, delta); err != nil {
			return false, err
		}
	}
	if !has {
		return false, nil
	}
	return true, fn(value)
}

// Scan reads a range.
func (v *view) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	if v.layers.Base == nil {
		return v.scanTree(start, end, o, fn)
	}
	if len(end) > 0 && bytes.Compare(start, end) >= 0 {
		return nil
	}
	m := merges.Get().(*merge)
	m.start(v, start, end, o, fn)
	err := m.scan(start, end)
	m.release()
	return err
}

// scanTree is Scan where nothing is below the tree.
func (v *view) scanTree(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	return v.tree.Scan(start, end, o.Reverse, func(r tree.Row) (more bool, err error) {
		var value []byte
		var k kind
		if o.KeysOnly {
			k = kindOf(r)
		} else if k, value, err = content(r, v.fold); err != nil {
			return false, err
		}
		if k == deleted {
			return true, nil
		}
		return fn(r.Key(), value)
	})
}

// merge is a scan that merges the memtables of a view with its base.
type merge struct {
	view    *view
	options engine.ScanOptions
	fn      func(key, value []byte) (bool, error)
	cursors []tree.Cursor // of the memtable and the frozen ones
	rows    []tree.Row    // that the cursors are at
	deltas  [][]byte      // of a key, the newest first
}

var merges = sync.Pool{New: func() any { return new(merge) }}

func (m *merge) start(
	v *view, start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error),
) {
	n := v.memtables()
	if cap(m.cursors) < n {
		m.cursors, m.rows = make([]tree.Cursor, n), make([]tree.Row, n)
	}
	m.view, m.options, m.fn, m.cursors, m.rows = v, o, fn, m.cursors[:n], m.rows[:n]
	for i := range m.cursors {
		m.cursors[i].Seek(v.treeAt(i), start, end, o.Reverse)
		m.rows[i] = m.cursors[i].Row()
	}
}

// release drops all references and gives the merge back for reuse.
func (m *merge) release() {
	for i := range m.cursors {
		m.cursors[i].Forget()
	}
	clear(m.rows)
	clear(m.deltas[:cap(m.deltas)])
	m.view, m.fn = nil, nil
	merges.Put(m)
}

func (m *merge) scan(start, end []byte) error {
	stopped := false
	err := m.view.layers.Base.Scan(start, end, m.options, func(key, value []byte) (more bool, err error) {
		for {
			at := m.first()
			order := 1
			if at >= 0 {
				order = m.compare(m.rows[at].Key(), key)
			}
			switch {
			case order > 0:
				more, err = m.fn(key, value)
			case order == 0:
				more, err = m.emit(at, true, value)
			default:
				if more, err = m.emit(at, false, nil); more && err == nil {
					continue
				}
			}
			stopped = !more
			return more, err
		}
	})
	if err != nil || stopped {
		return err
	}
	for at := m.first(); at >= 0; at = m.first() {
		if more, err := m.emit(at, false, nil); err != nil || !more {
			return err
		}
	}
	return nil
}

func (m *merge) compare(a, b []byte) int {
	if m.options.Reverse {
		return bytes.Compare(b, a)
	}
	return bytes.Compare(a, b)
}

// first is the newest memtable with the first key, or -1 at the end of all of them.
func (m *merge) first() int {
	at := -1
	for i, r := range m.rows {
		if !r.None() && (at < 0 || m.compare(r.Key(), m.rows[at].Key()) < 0) {
			at = i
		}
	}
	return at
}

// emit calls fn with the key that the cursor of a memtable is at, unless the key is deleted, and steps over it. The
// base may have the key, too, with a value.
func (m *merge) emit(at int, inBase bool, value []byte) (more bool, err error) {
	key := m.rows[at].Key()
	has := inBase    // whether the key has a value
	decided := false // a row that is no delta was seen
	m.deltas = m.deltas[:0]
	for i := at; i < len(m.rows); i++ {
		r := m.rows[i]
		if r.None() || i > at && !bytes.Equal(r.Key(), key) {
			continue
		}
		m.cursors[i].Next()
		m.rows[i] = m.cursors[i].Row()
		if decided {
			continue
		}
		if m.options.KeysOnly {
			decided, has = true, kindOf(r) != deleted
			continue
		}
		k, v, err := content(r, m.view.fold)
		if err != nil {
			return false, err
		}
		if k == merged {
			m.deltas = append(m.deltas, v)
			continue
		}
		decided, has, value = true, k != deleted, v
	}
	if m.options.KeysOnly {
		if !has {
			return true, nil
		}
		return m.fn(key, nil)
	}
	more = true
	_, err = m.view.foldAll(has, key, value, m.deltas, func(value []byte) (err error) {
		more, err = m.fn(key, value)
		return err
	})
	return more, err
}
