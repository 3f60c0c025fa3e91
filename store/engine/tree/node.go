package tree

import (
	"sync/atomic"
	"unsafe"
)

// The capacity of nodes. A leaf takes 512 bytes and an inner node 1,024, which are size classes of Go's allocator.
const (
	leafRows  = 31
	innerSeps = 41
)

// node is the head of a leaf or of an inner node, depending on its level in the tree. The keys below a node lie
// between the separators around it, and share their first prefix bytes.
type node struct {
	edit   uint64 // the tree with this number may change the node in place
	prefix uint32
	n      uint16 // rows or separators
}

// leaf has rows, sorted by key.
type leaf struct {
	node
	heads [leafRows]uint64 // of the keys, after their prefix
	rows  [leafRows]Row
}

// inner has nodes, and between each two of them a separator: a key that is greater than all keys in the left one and
// not greater than any key in the right one.
type inner struct {
	node
	heads [innerSeps]uint64
	seps  [innerSeps]Row
	kids  [innerSeps + 1]*node
}

// leaf is the leaf that begins with the node.
func (n *node) leaf() *leaf { return (*leaf)(unsafe.Pointer(n)) }

// inner is the inner node that begins with the node.
func (n *node) inner() *inner { return (*inner)(unsafe.Pointer(n)) }

// search finds a key, or the place where it belongs.
func (l *leaf) search(key []byte) (at int, found bool) {
	return search(l.heads[:l.n], l.rows[:l.n], key, int(l.prefix))
}

// kid is the place of the node below which a key is or belongs.
func (in *inner) kid(key []byte) int {
	at, found := search(in.heads[:in.n], in.seps[:in.n], key, int(in.prefix))
	if found {
		at++
	}
	return at
}

// insert inserts a row at a place. The leaf has room.
func (l *leaf) insert(at int, r Row) {
	n := int(l.n)
	copy(l.heads[at+1:n+1], l.heads[at:n])
	copy(l.rows[at+1:n+1], l.rows[at:n])
	l.heads[at], l.rows[at] = headOf(r.Key(), int(l.prefix)), r
	l.n++
}

// remove removes the row at a place.
func (l *leaf) remove(at int) {
	n := int(l.n)
	copy(l.heads[at:], l.heads[at+1:n])
	copy(l.rows[at:], l.rows[at+1:n])
	l.rows[n-1] = Row{}
	l.n--
}

// cut removes the rows from n on.
func (l *leaf) cut(n int) {
	clear(l.rows[n:l.n])
	l.n = uint16(n)
}

// setPrefix sets how many bytes the separators around the leaf share.
func (l *leaf) setPrefix(prefix int) {
	if int(l.prefix) == prefix {
		return
	}
	l.prefix = uint32(prefix)
	for i, r := range l.rows[:l.n] {
		l.heads[i] = headOf(r.Key(), prefix)
	}
}

// fill replaces the separators and nodes.
func (in *inner) fill(prefix int, seps []Row, kids []*node) {
	clear(in.seps[len(seps):])
	clear(in.kids[len(kids):])
	copy(in.seps[:], seps)
	copy(in.kids[:], kids)
	in.n, in.prefix = uint16(len(seps)), uint32(prefix)
	for i, s := range seps {
		in.heads[i] = headOf(s.Key(), prefix)
	}
}

// insert inserts a separator at a place, and a node after it. There is room.
func (in *inner) insert(at int, sep Row, kid *node) {
	n := int(in.n)
	copy(in.heads[at+1:n+1], in.heads[at:n])
	copy(in.seps[at+1:n+1], in.seps[at:n])
	copy(in.kids[at+2:n+2], in.kids[at+1:n+1])
	in.heads[at], in.seps[at], in.kids[at+1] = headOf(sep.Key(), int(in.prefix)), sep, kid
	in.n++
}

// remove removes the separator at a place, and the node after it.
func (in *inner) remove(at int) {
	n := int(in.n)
	copy(in.heads[at:], in.heads[at+1:n])
	copy(in.seps[at:], in.seps[at+1:n])
	copy(in.kids[at+1:], in.kids[at+2:n+1])
	in.seps[n-1], in.kids[n] = Row{}, nil
	in.n--
}

// replace replaces a separator.
func (in *inner) replace(at int, sep Row) {
	in.heads[at], in.seps[at] = headOf(sep.Key(), int(in.prefix)), sep
}

var edits atomic.Uint64

// newEdit returns a number that no node has.
func newEdit() uint64 { return edits.Add(1) }
