package tree

import (
	"bytes"
	"fmt"

	"github.com/cqld/cqld/internal/invariants"
)

// Check verifies the invariants of the whole tree, and counts its rows and leaves.
func (t *Tree) Check() (rows, leaves int, err error) {
	c := checking{tree: t}
	c.node(t.root, t.level, Row{}, Row{})
	return c.rows, c.leaves, c.err
}

// checking is a Check under way.
type checking struct {
	tree         *Tree
	last         []byte // key
	rows, leaves int
	err          error // the first
}

func (c *checking) wrong(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// node checks what is below a node between two separators.
func (c *checking) node(n *node, level int, lo, hi Row) {
	if int(n.prefix) > prefixBetween(lo, hi) {
		c.wrong("a prefix of %d bytes between %q and %q", n.prefix, lo.Key(), hi.Key())
	}
	if level == 0 {
		c.leaf(n.leaf(), lo, hi)
		return
	}
	in := n.inner()
	if n.n == 0 {
		c.wrong("an inner node with one below it")
	}
	for i, kid := range in.kids {
		if i > int(n.n) {
			if kid != nil || !in.seps[i-1].None() {
				c.wrong("a node after the last one")
			}
			continue
		}
		from, to := lo, hi
		if i > 0 {
			c.row(n, in.heads[i-1], in.seps[i-1], lo, hi)
			from = in.seps[i-1]
		}
		if i < int(n.n) {
			to = in.seps[i]
		}
		c.node(kid, level-1, from, to)
	}
}

// leaf checks the rows of a leaf.
func (c *checking) leaf(l *leaf, lo, hi Row) {
	if l.n == 0 && c.tree.level > 0 {
		c.wrong("an empty leaf")
	}
	for i, r := range l.rows {
		if i >= int(l.n) {
			if !r.None() {
				c.wrong("a row after the last one")
			}
			continue
		}
		c.row(&l.node, l.heads[i], r, lo, hi)
		if c.last != nil && bytes.Compare(c.last, r.Key()) >= 0 {
			c.wrong("%q before %q", c.last, r.Key())
		}
		c.last = r.Key()
	}
	c.rows += int(l.n)
	c.leaves++
}

// row checks a row or a separator of a node.
func (c *checking) row(n *node, head uint64, r, lo, hi Row) {
	if head != headOf(r.Key(), int(n.prefix)) {
		c.wrong("another head of %q", r.Key())
	}
	if !lo.None() && bytes.Compare(r.Key(), lo.Key()) < 0 || !hi.None() && bytes.Compare(r.Key(), hi.Key()) >= 0 {
		c.wrong("%q is not between %q and %q", r.Key(), lo.Key(), hi.Key())
	}
}

// checkLeaf checks that a changed leaf belongs to the tree, and that its rows are sorted between two separators.
func (t *Tree) checkLeaf(l *leaf, lo, hi Row) {
	sound := l.edit == t.edit
	before := lo
	for i, r := range l.rows[:l.n] {
		if !before.None() {
			order := bytes.Compare(before.Key(), r.Key())
			sound = sound && (order < 0 || order == 0 && i == 0) // a separator may be the first key
		}
		sound = sound && l.heads[i] == headOf(r.Key(), int(l.prefix)) && (hi.None() || bytes.Compare(r.Key(), hi.Key()) < 0)
		before = r
	}
	invariants.Check(sound, "a leaf that was changed is shared or out of order")
}

// Level is how many levels of inner nodes the tree has.
func (t *Tree) Level() int { return t.level }
