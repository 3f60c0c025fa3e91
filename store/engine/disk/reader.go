package disk

import (
	"bytes"
	"sync"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/tree"
)

// view reads a tree that nobody changes meanwhile, and what is below it.
type view struct {
	tree   tree.Tree
	layers *layers
	fold   engine.Fold
	lacks  func(key []byte, era uint64) bool // reports whether a key was certainly not there since; nil: nothing is known
	era    uint64                            // of the filter, when the reading began
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
	return fn(&p.Value)
}

// top is the newest row of a key, or none.
func (v *view) top(key []byte) tree.Row {
	if r := v.tree.Get(key); !r.None() {
		return r
	}
	for _, m := range v.layers.frozen {
		if r := m.tree.Get(key); !r.None() {
			return r
		}
	}
	return tree.Row{}
}

// Get reads a key: the deltas down to the first layer that knows what the key holds are folded.
func (v *view) Get(key []byte, fn func(value []byte) error) (bool, error) {
	var deltas stack
	next := 0
	for r := v.tree.Get(key); ; next++ {
		if !r.None() {
			k, value, err := content(r, v.fold)
			if err != nil {
				return false, err
			}
			if k != merged {
				return v.folded(k.isHeld(), key, value, &deltas, fn)
			}
			deltas.push(value)
		}
		if next == len(v.layers.frozen) {
			break
		}
		r = v.layers.frozen[next].tree.Get(key)
	}
	if deltas.n == 0 {
		if v.lacks != nil && v.lacks(key, v.era) {
			return false, nil
		}
		return v.layers.base.Get(key, fn)
	}
	found, err := v.layers.base.Get(key, func(value []byte) error {
		_, err := v.folded(true, key, value, &deltas, fn)
		return err
	})
	if found || err != nil {
		return found, err
	}
	return v.folded(false, key, nil, &deltas, fn)
}

// folded calls fn with a value, if there is one, and deltas folded into it.
func (v *view) folded(held bool, key, value []byte, deltas *stack, fn func(value []byte) error) (bool, error) {
	for deltas.n > 0 {
		delta := deltas.pop()
		if !held {
			held, value = true, delta
			continue
		}
		var err error
		if value, err = v.fold(nil, key, value, delta); err != nil {
			return false, err
		}
	}
	if !held {
		return false, nil
	}
	return true, fn(value)
}

// stack has deltas of a key, the oldest on top.
type stack struct {
	first [4][]byte
	more  [][]byte
	n     int
}

func (s *stack) push(delta []byte) {
	if s.n < len(s.first) {
		s.first[s.n] = delta
	} else {
		s.more = append(s.more[:s.n-len(s.first)], delta)
	}
	s.n++
}

func (s *stack) pop() []byte {
	s.n--
	if s.n < len(s.first) {
		return s.first[s.n]
	}
	return s.more[s.n-len(s.first)]
}

// merging is a scan of the trees of a view.
type merging struct {
	view    *view
	options engine.ScanOptions
	fn      func(key, value []byte) (bool, error)
	cursors []tree.Cursor // of the tree and the frozen ones
	rows    []tree.Row    // that the cursors are at
	deltas  stack
}

var mergings = sync.Pool{New: func() any { return new(merging) }}

// Scan merges what the trees have in a range with what is below them.
func (v *view) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	if len(end) > 0 && bytes.Compare(start, end) >= 0 {
		return nil
	}
	m := mergings.Get().(*merging)
	m.begin(v, start, end, o, fn)
	err := m.run(start, end)
	m.end()
	mergings.Put(m)
	return err
}

func (m *merging) begin(
	v *view, start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error),
) {
	n := 1 + len(v.layers.frozen)
	if cap(m.cursors) < n {
		m.cursors, m.rows = make([]tree.Cursor, n), make([]tree.Row, n)
	}
	m.view, m.options, m.fn, m.cursors, m.rows = v, o, fn, m.cursors[:n], m.rows[:n]
	for i := range m.cursors {
		t := &v.tree
		if i > 0 {
			t = &v.layers.frozen[i-1].tree
		}
		m.cursors[i].Begin(t, start, end, o.Reverse)
		m.rows[i] = m.cursors[i].Row()
	}
}

// end lets go of everything.
func (m *merging) end() {
	for i := range m.cursors {
		m.cursors[i].Forget()
	}
	clear(m.rows)
	m.view, m.fn, m.deltas = nil, nil, stack{}
}

// run merges the trees with what is below.
func (m *merging) run(start, end []byte) error {
	stopped := false
	err := m.view.layers.base.Scan(start, end, m.options, func(key, value []byte) (more bool, err error) {
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
				more, err = m.show(at, true, value)
			default:
				if more, err = m.show(at, false, nil); more && err == nil {
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
		if more, err := m.show(at, false, nil); err != nil || !more {
			return err
		}
	}
	return nil
}

func (m *merging) compare(a, b []byte) int {
	if m.options.Reverse {
		return bytes.Compare(b, a)
	}
	return bytes.Compare(a, b)
}

// first is the newest tree with the first key, or -1 if the trees have no more.
func (m *merging) first() int {
	at := -1
	for i, r := range m.rows {
		if !r.None() && (at < 0 || m.compare(r.Key(), m.rows[at].Key()) < 0) {
			at = i
		}
	}
	return at
}

// show calls fn with the key that a tree is at, unless it is deleted, and steps over it. The key may be below the
// trees, too, with a value.
func (m *merging) show(at int, below bool, value []byte) (more bool, err error) {
	key := m.rows[at].Key()
	known := false // what the key holds
	for i := at; i < len(m.rows); i++ {
		r := m.rows[i]
		if r.None() || i > at && !bytes.Equal(r.Key(), key) {
			continue
		}
		m.cursors[i].Next()
		m.rows[i] = m.cursors[i].Row()
		if known {
			continue
		}
		if m.options.KeysOnly {
			known, below = true, kindOf(r) != deleted
			continue
		}
		k, v, err := content(r, m.view.fold)
		if err != nil {
			return false, err
		}
		if k == merged {
			m.deltas.push(v)
			continue
		}
		known, below, value = true, k.isHeld(), v
	}
	if m.options.KeysOnly {
		if !below {
			return true, nil
		}
		return m.fn(key, nil)
	}
	more = true
	_, err = m.view.folded(below, key, value, &m.deltas, func(value []byte) (err error) {
		more, err = m.fn(key, value)
		return err
	})
	return more, err
}
