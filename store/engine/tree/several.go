package tree

import (
	"bytes"

	"github.com/cqld/cqld/store/engine/keys"
)

// togetherLevel is the least level of a tree that keys are looked for together in: a smaller one is in the processor's
// caches most of the time.
const togetherLevel = 3

// touchedBytes is how much of a long row is fetched ahead.
const touchedBytes = 512

// GetSeveral returns the rows of some keys, none for a key that is not there. It looks for all of them together, which
// in a large tree takes less time than Get for each.
func (t *Tree) GetSeveral(some [][]byte, rows *[keys.AtOnce]Row) {
	if t.level < togetherLevel {
		for i, key := range some {
			rows[i] = t.Get(key)
		}
		return
	}
	keys.Fetched(t.getTogether(some, rows))
	for i, key := range some {
		if !rows[i].None() && !bytes.Equal(rows[i].Key(), key) {
			rows[i] = t.Get(key)
		}
	}
}

// getTogether takes the first row whose key has the same head as each key, or none, and returns a number that is made
// from all that was fetched.
func (t *Tree) getTogether(some [][]byte, rows *[keys.AtOnce]Row) (sum uint64) {
	var nodes [keys.AtOnce]*node
	var at, sizes [keys.AtOnce]int
	for i := range some {
		nodes[i] = t.root
	}
	for level := t.level; level > 0; level-- {
		for i, key := range some {
			at[i] = nodes[i].inner().kid(key)
		}
		for i := range some {
			nodes[i] = nodes[i].inner().kids[at[i]]
		}
		for i := range some {
			sum += nodes[i].touch(level - 1)
		}
	}
	for i, key := range some {
		l := nodes[i].leaf()
		head := headOf(key, int(l.prefix))
		if at[i] = firstHead(l.heads[:l.n], head); at[i] == int(l.n) || l.heads[at[i]] != head {
			at[i] = -1
		}
	}
	for i := range some {
		rows[i] = Row{}
		if at[i] >= 0 {
			rows[i] = nodes[i].leaf().rows[at[i]]
		}
	}
	for i := range some {
		sizes[i] = rows[i].touchedSize()
	}
	for i := range some {
		for from := keys.LineSize; from < sizes[i]; from += keys.LineSize {
			sum += uint64(rows[i].bytes(from, 1)[0])
		}
	}
	return sum
}

// touch reads the lines of a node in which its heads are.
func (n *node) touch(level int) (sum uint64) {
	const perLine = keys.LineSize / 8
	heads := n.leaf().heads[:]
	if level > 0 {
		heads = n.inner().heads[:]
	}
	for i := 0; i < len(heads); i += perLine {
		sum += heads[i]
	}
	return sum + heads[len(heads)-1]
}

// touchedSize is how many bytes of the row are fetched ahead.
func (r Row) touchedSize() int {
	if r.None() || r.Long() != nil {
		return 0
	}
	head, key, value := r.lengths()
	return min(head+key+value, touchedBytes)
}
