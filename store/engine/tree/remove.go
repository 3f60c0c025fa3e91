package tree

import "github.com/cqld/cqld/internal/invariants"

// A node with fewer rows or nodes than min is merged with its sibling, if they have no more than maxJoined in total.
const (
	minLeaf        = 10
	maxJoinedLeaf  = 24
	minInner       = 12
	maxJoinedInner = 36
)

// Remove removes the row that Seek found. A leaf without rows is removed too, unless it is the root.
func (t *Tree) Remove(p *Path) {
	l := p.leaf
	l.remove(p.at)
	if t.level == 0 || l.n >= minLeaf {
		return
	}
	s := &p.steps[t.level-1]
	at := s.at // of the left one of the two
	if at == int(s.in.n) {
		at--
	}
	left, right := s.in.kids[at].leaf(), s.in.kids[at+1].leaf()
	if l.n > 0 && left.n+right.n > maxJoinedLeaf {
		return
	}
	left = t.ownKid(s.in, at, 0).leaf()
	left.setPrefix(int(min(left.prefix, right.prefix)))
	for i, r := range right.rows[:right.n] {
		left.rows[int(left.n)+i] = r
		left.heads[int(left.n)+i] = headOf(r.Key(), int(left.prefix))
	}
	left.n += right.n
	s.in.remove(at)
	if invariants.Enabled {
		t.checkLeaf(left, Row{}, Row{})
	}
	t.shrink(p)
}

// shrink rebalances the inner nodes on a path, from the lowest, which has lost a node, up to the root.
func (t *Tree) shrink(p *Path) {
	for depth := t.level - 1; depth > 0; depth-- {
		if int(p.steps[depth].in.n)+1 >= minInner {
			return
		}
		if !t.join(&p.steps[depth-1], t.level-depth) {
			return
		}
	}
	if root := t.root.inner(); root.n == 0 {
		t.root = root.kids[0]
		t.level--
	}
}

// join merges the next node on a path with its sibling, or balances both. It reports whether the step's node has lost
// a node.
func (t *Tree) join(s *step, level int) bool {
	at := s.at
	if at == int(s.in.n) {
		at--
	}
	left, right := t.ownKid(s.in, at, level).inner(), s.in.kids[at+1].inner()
	prefix := int(min(left.prefix, right.prefix))
	var seps [2*innerSeps + 1]Row
	var kids [2*innerSeps + 2]*node
	n := copy(seps[:], left.seps[:left.n])
	seps[n] = s.in.seps[at]
	n += 1 + copy(seps[n+1:], right.seps[:right.n])
	m := copy(kids[:], left.kids[:left.n+1])
	copy(kids[m:], right.kids[:right.n+1])
	if n+1 <= maxJoinedInner {
		left.fill(prefix, seps[:n], kids[:n+1])
		s.in.remove(at)
		return true
	}
	right = t.ownKid(s.in, at+1, level).inner()
	half := n / 2
	left.fill(prefix, seps[:half], kids[:half+1])
	right.fill(prefix, seps[half+1:n], kids[half+1:n+1])
	s.in.replace(at, seps[half])
	return false
}
