package enginetest

import (
	"bytes"
	"hash/maphash"
)

// tree is a persistent sorted map, a treap: a change copies the path to it, and versions never change. A node's
// weight, a hash of its key, is greater than the weights in its subtrees.
type tree struct {
	left, right *tree
	weight      uint64
	key         []byte
	value       *held
}

// held is the content of a key: a value, or nil, and deltas that are not folded into it yet. It is immutable.
type held struct {
	value  []byte
	deltas [][]byte
}

var treeSeed = maphash.MakeSeed()

// find returns the content of a key, or nil.
func (t *tree) find(key []byte) *held {
	for t != nil {
		switch order := bytes.Compare(key, t.key); {
		case order == 0:
			return t.value
		case order < 0:
			t = t.left
		default:
			t = t.right
		}
	}
	return nil
}

// with returns the tree in which key holds value; nil removes it.
func (t *tree) with(key []byte, value *held) *tree {
	before, from := t.split(key)
	_, after := from.split(append(bytes.Clone(key), 0))
	if value == nil {
		return join(before, after)
	}
	one := &tree{weight: maphash.Bytes(treeSeed, key), key: bytes.Clone(key), value: value}
	return join(join(before, one), after)
}

// split divides the tree into the keys before one and the others.
func (t *tree) split(key []byte) (before, from *tree) {
	if t == nil {
		return nil, nil
	}
	copied := *t
	if bytes.Compare(t.key, key) < 0 {
		copied.right, from = t.right.split(key)
		return &copied, from
	}
	before, copied.left = t.left.split(key)
	return before, &copied
}

// join makes one tree of two, of which the first has the smaller keys.
func join(a, b *tree) *tree {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.weight > b.weight:
		copied := *a
		copied.right = join(a.right, b)
		return &copied
	}
	copied := *b
	copied.left = join(a, b.left)
	return &copied
}

// each visits the keys in [start, end), an empty end being after the last, until visit returns false.
func (t *tree) each(start, end []byte, reverse bool, visit func(*tree) bool) bool {
	if t == nil {
		return true
	}
	first, last := t.left, t.right
	enterFirst := bytes.Compare(start, t.key) < 0
	enterLast := len(end) == 0 || bytes.Compare(t.key, end) < 0
	meant := bytes.Compare(start, t.key) <= 0 && enterLast
	if reverse {
		first, last, enterFirst, enterLast = last, first, enterLast, enterFirst
	}
	return (!enterFirst || first.each(start, end, reverse, visit)) &&
		(!meant || visit(t)) &&
		(!enterLast || last.each(start, end, reverse, visit))
}
