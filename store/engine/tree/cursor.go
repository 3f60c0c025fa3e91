package tree

import "bytes"

// Scan calls fn with the rows whose keys are in [start, end), in their order or in reverse, until it returns false or
// an error. An end without bytes is after the last key.
func (t *Tree) Scan(start, end []byte, reverse bool, fn func(Row) (more bool, err error)) error {
	if len(end) > 0 && bytes.Compare(start, end) >= 0 {
		return nil
	}
	var c Cursor
	c.Seek(t, start, end, reverse)
	for r := c.Row(); !r.None(); r = c.Row() {
		if more, err := fn(r); err != nil || !more {
			return err
		}
		c.Next()
	}
	return nil
}

// Cursor goes through the rows of a tree whose keys are in a range. The tree must not change meanwhile.
type Cursor struct {
	steps   [maxLevel]place // from the root to the parent of the leaf
	level   int
	leaf    *leaf // nil: at the end of the range
	at      int
	stop    int    // the first place in the leaf that is not in the range
	bound   []byte // the first key that is not in the range, or in reverse the last one that is
	step    int    // 1, or -1 in reverse
	touched byte   // a sum of what was prefetched: the compiler would remove loads without a use
}

// place is an inner node, and the place of a node in it.
type place struct {
	in *inner
	at int
}

// Seek goes to the first row of [start, end), or in reverse to the last one. An end without bytes is after the last
// key.
func (c *Cursor) Seek(t *Tree, start, end []byte, reverse bool) {
	c.level, c.step, c.bound = t.level, 1, end
	from := start
	if reverse {
		c.step, c.bound, from = -1, start, end
	}
	n := t.root
	for level := t.level; level > 0; level-- {
		in := n.inner()
		at := 0
		switch {
		case len(from) > 0:
			at = in.kid(from)
		case reverse:
			at = int(in.n)
		}
		c.steps[t.level-level] = place{in, at}
		n = in.kids[at]
	}
	c.enter(n.leaf())
	if len(from) > 0 {
		if c.at, _ = c.leaf.search(from); reverse {
			c.at--
		}
	}
}

// enter goes to the first row of a leaf, or in reverse to the last one.
func (c *Cursor) enter(l *leaf) {
	n := int(l.n)
	c.leaf, c.at, c.stop = l, 0, n
	if c.step < 0 {
		c.at, c.stop = n-1, -1
	}
	if len(c.bound) == 0 || n == 0 {
		return
	}
	// search wants a key between the separators around the leaf, so a bound before or after all rows is not looked for.
	first, last := bytes.Compare(l.rows[0].Key(), c.bound) < 0, bytes.Compare(l.rows[n-1].Key(), c.bound) < 0
	switch {
	case first && !last: // it is between them
		if c.stop, _ = l.search(c.bound); c.step < 0 {
			c.stop--
		}
	case first == (c.step < 0): // no row is in the range
		c.stop = c.at
	}
}

// Row is the row that the cursor is at, or none at the end of the range.
func (c *Cursor) Row() Row {
	for c.leaf != nil && (c.at-c.stop)*c.step >= 0 {
		c.nextLeaf()
	}
	if c.leaf == nil {
		return Row{}
	}
	return c.leaf.rows[c.at]
}

// prefetchDistance is by how many rows a cursor touches a row before it reads it, so that cache misses overlap.
const prefetchDistance = 2

// Next goes on by a row.
func (c *Cursor) Next() {
	c.at += c.step
	if later := c.at + prefetchDistance*c.step; (c.stop-later)*c.step > 0 {
		c.touched += c.leaf.rows[later].touch()
	}
}

// nextLeaf goes to the next leaf, or to the end if the bound is in this one.
func (c *Cursor) nextLeaf() {
	last := int(c.leaf.n)
	if c.step < 0 {
		last = -1
	}
	for depth := c.level - 1; depth >= 0 && c.stop == last; depth-- {
		p := &c.steps[depth]
		if p.at += c.step; p.at < 0 || p.at > int(p.in.n) {
			continue
		}
		n := p.in.kids[p.at]
		for depth++; depth < c.level; depth++ {
			in := n.inner()
			at := 0
			if c.step < 0 {
				at = int(in.n)
			}
			c.steps[depth] = place{in, at}
			n = in.kids[at]
		}
		c.enter(n.leaf())
		return
	}
	c.leaf = nil
}

// Forget drops the references to the tree's nodes.
func (c *Cursor) Forget() {
	clear(c.steps[:c.level])
	c.leaf, c.bound = nil, nil
}
