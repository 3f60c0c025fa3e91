// Package tree is a copy-on-write B+tree of rows in memory: the memtable of engine/memory and engine/disk.
//
// A Tree is a small value. A copy of it shares its nodes. The caller that copies a tree calls Detach on one of the two
// before it is changed again, so that the other does not change; that takes no longer for many rows than for few. One
// goroutine at a time may change a tree, and no goroutine may read a tree whose nodes are changed in place meanwhile:
// engine/memory ensures both.
//
// A Row is a key and its value in one allocation (row.go). Get reads a row, Seek, Put and Remove change rows along a
// Path, and Scan and Cursor go through a range. A Cursor prefetches: rows that were written at different times are
// scattered over the heap.
package tree

import (
	"github.com/cqld/cqld/internal/invariants"
	"github.com/cqld/cqld/store/engine"
)

// Tree is a B+tree of rows. It changes nodes with its edit number in place and copies all others, so its nodes are
// shared as soon as it gets another number. A node has the prefix that its keys share and the heads of the keys after
// it, side by side, so most comparisons are of two numbers in one cache line. A key that is looked for need not be
// compared with the prefix, because it lies between the same separators as the node.
type Tree struct {
	root  *node
	level int // of the root; leaves have 0
	edit  uint64
}

// New makes an empty tree.
func New() Tree {
	edit := newEdit()
	return Tree{root: &(&leaf{node: node{edit: edit}}).node, edit: edit}
}

// Detach makes the tree copy each of its nodes before it changes it, so that copies of the tree do not change.
func (t *Tree) Detach() { t.edit = newEdit() }

// Get returns the row of a key, or none.
func (t *Tree) Get(key []byte) Row {
	n := t.root
	for level := t.level; level > 0; level-- {
		in := n.inner()
		n = in.kids[in.kid(key)]
	}
	l := n.leaf()
	if at, found := l.search(key); found {
		return l.rows[at]
	}
	return Row{}
}

// maxLevel is more than a tree can have: all nodes but the root have at least two below them.
const maxLevel = 48

// Path is the path from the root to a row. The tree owns the nodes on it, so it may change them.
type Path struct {
	steps  [maxLevel]step // from the root to the parent of the leaf
	leaf   *leaf
	lo, hi Row  // the separators around the leaf; none: it is the first or the last one
	at     int  // the row's place, or where it belongs
	Found  bool // the key is there
}

// Forget drops the references to nodes and rows, which would keep them from being garbage collected.
func (p *Path) Forget() {
	for i := 0; i < maxLevel && p.steps[i].in != nil; i++ {
		p.steps[i] = step{}
	}
	p.leaf, p.lo, p.hi = nil, Row{}, Row{}
}

// Row is the row that Seek found.
func (p *Path) Row() Row { return p.leaf.rows[p.at] }

// step is an inner node on a path, and the place of the next node in it.
type step struct {
	in     *inner
	at     int
	lo, hi Row // the separators around the node
}

// Seek finds a key, and makes the nodes that lead to it changeable.
func (t *Tree) Seek(key []byte, p *Path) {
	t.root = t.own(t.root, t.level)
	n := t.root
	p.lo, p.hi = Row{}, Row{}
	for level := t.level; level > 0; level-- {
		in := n.inner()
		at := in.kid(key)
		p.steps[t.level-level] = step{in, at, p.lo, p.hi}
		if at > 0 {
			p.lo = in.seps[at-1]
		}
		if at < int(in.n) {
			p.hi = in.seps[at]
		}
		n = t.ownKid(in, at, level-1)
	}
	p.leaf = n.leaf()
	p.at, p.Found = p.leaf.search(key)
}

// own returns a node, or a copy of it, that the tree may change.
func (t *Tree) own(n *node, level int) *node {
	switch {
	case n.edit == t.edit:
		return n
	case level == 0:
		l := new(leaf)
		*l = *n.leaf()
		l.edit = t.edit
		return &l.node
	default:
		in := new(inner)
		*in = *n.inner()
		in.edit = t.edit
		return &in.node
	}
}

// ownKid makes a node below another one changeable.
func (t *Tree) ownKid(in *inner, at, level int) *node {
	kid := in.kids[at]
	if kid.edit != t.edit {
		kid = t.own(kid, level)
		in.kids[at] = kid
	}
	return kid
}

// Put stores a row where seek has found its key or the place for it.
func (t *Tree) Put(p *Path, r Row) {
	l := p.leaf
	switch {
	case p.Found:
		l.rows[p.at] = r
	case l.n < leafRows:
		l.insert(p.at, r)
	default:
		t.split(p, r)
		return
	}
	if invariants.Enabled {
		t.checkLeaf(l, p.lo, p.hi)
	}
}

// split inserts a row into a full leaf, which it splits. If the row is the last one, the leaf stays full: so leaves
// are full when rows are appended.
func (t *Tree) split(p *Path, r Row) {
	l, right := p.leaf, &leaf{node: node{edit: t.edit, prefix: p.leaf.prefix}}
	cut := leafRows / 2
	if p.at == leafRows {
		cut = leafRows
	}
	right.n = uint16(copy(right.rows[:], l.rows[cut:]))
	copy(right.heads[:], l.heads[cut:])
	l.cut(cut)
	if p.at <= cut && cut < leafRows {
		l.insert(p.at, r)
	} else {
		right.insert(p.at-cut, r)
	}
	sep := separator(l.rows[l.n-1].Key(), right.rows[0].Key())
	l.setPrefix(prefixBetween(p.lo, sep))
	right.setPrefix(prefixBetween(sep, p.hi))
	if invariants.Enabled {
		t.checkLeaf(l, p.lo, sep)
		t.checkLeaf(right, sep, p.hi)
	}
	t.grow(p, t.level-1, sep, &right.node)
}

// prefixBetween is the prefix of a node between two separators.
func prefixBetween(lo, hi Row) int {
	if lo.None() || hi.None() {
		return 0
	}
	return engine.SharedPrefix(lo.Key(), hi.Key())
}

// grow inserts a separator and the node after it into the inner node at a step of a path, or above the root.
func (t *Tree) grow(p *Path, depth int, sep Row, kid *node) {
	for ; depth >= 0; depth-- {
		s := &p.steps[depth]
		if s.in.n < innerSeps {
			s.in.insert(s.at, sep, kid)
			return
		}
		sep, kid = t.splitInner(s, sep, kid)
	}
	root := &inner{node: node{edit: t.edit}}
	root.fill(0, []Row{sep}, []*node{t.root, kid})
	t.root = &root.node
	t.level++
}

// splitInner inserts a separator and a node into a full inner node, which it splits. It returns the new node and the
// separator before it.
func (t *Tree) splitInner(s *step, sep Row, kid *node) (Row, *node) {
	var seps [innerSeps + 1]Row
	var kids [innerSeps + 2]*node
	copy(seps[:], s.in.seps[:s.at])
	seps[s.at] = sep
	copy(seps[s.at+1:], s.in.seps[s.at:])
	copy(kids[:], s.in.kids[:s.at+1])
	kids[s.at+1] = kid
	copy(kids[s.at+2:], s.in.kids[s.at+1:])
	cut := len(seps) / 2
	if s.at == innerSeps {
		cut = innerSeps - 3
	}
	middle, right := seps[cut], &inner{node: node{edit: t.edit}}
	right.fill(prefixBetween(middle, s.hi), seps[cut+1:], kids[cut+1:])
	s.in.fill(prefixBetween(s.lo, middle), seps[:cut], kids[:cut+1])
	return middle, &right.node
}
