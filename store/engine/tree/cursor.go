package tree

import "bytes"

// Cursor goes through the rows of a tree whose keys are in a range. The tree must not change meanwhile.
type Cursor struct {
	steps   [maxLevel]place // from the root to the parent of the leaf
	level   int
	leaf    *leaf
	at      int
	bound   []byte // the first key that is not in the range, or backwards the last one that is
	reverse bool
}

// place is an inner node, and the place of a node in it.
type place struct {
	in *inner
	at int
}

// Begin goes to the first row of [start, end), or backwards to the last one. An end without bytes is behind the last
// key.
func (c *Cursor) Begin(t *Tree, start, end []byte, reverse bool) {
	c.level, c.reverse, c.bound = t.level, reverse, end
	from := start
	if reverse {
		c.bound, from = start, end
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
	c.leaf = n.leaf()
	switch {
	case len(from) > 0:
		c.at, _ = c.leaf.search(from)
	case reverse:
		c.at = int(c.leaf.n)
	default:
		c.at = 0
	}
	if reverse {
		c.at--
	}
}

// Row is the row that the cursor is at, or none behind the last one of the range.
func (c *Cursor) Row() Row {
	for c.leaf != nil && (c.at < 0 || c.at >= int(c.leaf.n)) {
		c.next()
	}
	if c.leaf == nil {
		return Row{}
	}
	r := c.leaf.rows[c.at]
	if len(c.bound) > 0 {
		if order := bytes.Compare(r.Key(), c.bound); c.reverse && order < 0 || !c.reverse && order >= 0 {
			c.leaf = nil
			return Row{}
		}
	}
	return r
}

// Next goes on by a row.
func (c *Cursor) Next() {
	if c.reverse {
		c.at--
	} else {
		c.at++
	}
}

// next goes to the next leaf. There is none behind the last one.
func (c *Cursor) next() {
	step := 1
	if c.reverse {
		step = -1
	}
	for depth := c.level - 1; depth >= 0; depth-- {
		p := &c.steps[depth]
		if p.at += step; p.at < 0 || p.at > int(p.in.n) {
			continue
		}
		n := p.in.kids[p.at]
		for depth++; depth < c.level; depth++ {
			in := n.inner()
			at := 0
			if c.reverse {
				at = int(in.n)
			}
			c.steps[depth] = place{in, at}
			n = in.kids[at]
		}
		c.leaf, c.at = n.leaf(), 0
		if c.reverse {
			c.at = int(c.leaf.n) - 1
		}
		return
	}
	c.leaf = nil
}

// Forget lets go of the tree's nodes.
func (c *Cursor) Forget() {
	clear(c.steps[:c.level])
	c.leaf, c.bound = nil, nil
}
