package memory

// tree is a B+tree of rows. It changes nodes in place that have its number and copies all others, so another tree
// shares its nodes as soon as it gets another number. The prefixes and heads in nodes make most comparisons one of two
// numbers that lie side by side; a key that is looked for needs no comparison with the prefix, because it lies between
// the same separators as the node.
type tree struct {
	root  *node
	level int // of the root; leaves have 0
	edit  uint64
}

// newTree makes an empty tree.
func newTree() tree {
	edit := newEdit()
	return tree{root: &(&leaf{node: node{edit: edit}}).node, edit: edit}
}

// get returns the row of a key, or none.
func (t *tree) get(key []byte) row {
	n := t.root
	for level := t.level; level > 0; level-- {
		in := n.inner()
		n = in.kids[in.kid(key)]
	}
	l := n.leaf()
	if at, found := l.search(key); found {
		return l.rows[at]
	}
	return row{}
}

// maxLevel is more than a tree can have: all nodes but the root have at least two below them.
const maxLevel = 48

// path is the way to a row. The tree may change the nodes on it.
type path struct {
	steps  [maxLevel]step // from the root to the parent of the leaf
	leaf   *leaf
	lo, hi row // the separators around the leaf; none: it is the first or the last one
	at     int // the row's place, or where it belongs
	found  bool
}

// forget lets go of the nodes and rows of a path, which would be kept otherwise when they are gone.
func (p *path) forget() {
	for i := 0; i < maxLevel && p.steps[i].in != nil; i++ {
		p.steps[i] = step{}
	}
	p.leaf, p.lo, p.hi = nil, row{}, row{}
}

// step is an inner node on a path, and the place of the next node in it.
type step struct {
	in     *inner
	at     int
	lo, hi row // the separators around the node
}

// seek finds a key, and makes the nodes that lead to it changeable.
func (t *tree) seek(key []byte, p *path) {
	t.root = t.own(t.root, t.level)
	n := t.root
	p.lo, p.hi = row{}, row{}
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
	p.at, p.found = p.leaf.search(key)
}

// own returns a node, or a copy of it, that the tree may change.
func (t *tree) own(n *node, level int) *node {
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
func (t *tree) ownKid(in *inner, at, level int) *node {
	kid := in.kids[at]
	if kid.edit != t.edit {
		kid = t.own(kid, level)
		in.kids[at] = kid
	}
	return kid
}

// put stores a row where seek has found its key or the place for it.
func (t *tree) put(p *path, r row) {
	l := p.leaf
	if p.found {
		l.rows[p.at] = r
		return
	}
	if l.n < leafRows {
		l.insert(p.at, r)
		return
	}
	t.split(p, r)
}

// split puts a row into a full leaf. A leaf that rows are appended to stays full.
func (t *tree) split(p *path, r row) {
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
	sep := separator(l.rows[l.n-1].key(), right.rows[0].key())
	l.setPrefix(prefixBetween(p.lo, sep))
	right.setPrefix(prefixBetween(sep, p.hi))
	t.grow(p, t.level-1, sep, &right.node)
}

// prefixBetween is the prefix of a node between two separators.
func prefixBetween(lo, hi row) int {
	if lo.none() || hi.none() {
		return 0
	}
	return commonPrefix(lo.key(), hi.key())
}

// grow puts a separator and the node behind it into the inner node at a step of a path, or above the root.
func (t *tree) grow(p *path, depth int, sep row, kid *node) {
	for ; depth >= 0; depth-- {
		s := &p.steps[depth]
		if s.in.n < innerSeps {
			s.in.insert(s.at, sep, kid)
			return
		}
		sep, kid = t.splitInner(s, sep, kid)
	}
	root := &inner{node: node{edit: t.edit}}
	root.fill(0, []row{sep}, []*node{t.root, kid})
	t.root = &root.node
	t.level++
}

// splitInner puts a separator and a node into a full inner node. It returns the new node and the separator before it.
func (t *tree) splitInner(s *step, sep row, kid *node) (row, *node) {
	var seps [innerSeps + 1]row
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
