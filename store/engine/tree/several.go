package tree

import "bytes"

// AtOnce is how many rows are looked for at the same time: more than a processor waits for at a time.
const AtOnce = 16

// togetherLevel is the least level of a tree that keys are looked for together in: a smaller one is in the processor's
// caches most of the time.
const togetherLevel = 3

// The processor fetches memory in lines. Of a long row only the first ones are fetched ahead.
const (
	lineSize     = 64
	touchedBytes = 512
)

// GetSeveral returns the rows of AtOnce keys at most, or none for a key that is not there. Get waits for memory at each
// step through a large tree. GetSeveral goes a step for all keys before it goes the next one, so that the processor
// waits for all of them at the same time.
func (t *Tree) GetSeveral(keys [][]byte, rows *[AtOnce]Row) {
	if t.level < togetherLevel {
		for i, key := range keys {
			rows[i] = t.Get(key)
		}
		return
	}
	needed(t.getTogether(keys, rows))
	for i, key := range keys {
		if !rows[i].None() && !bytes.Equal(rows[i].Key(), key) {
			rows[i] = t.Get(key)
		}
	}
}

// getTogether takes the first row whose key has the same head as each key, or none, and returns a number that is made
// from all that was fetched.
func (t *Tree) getTogether(keys [][]byte, rows *[AtOnce]Row) (sum uint64) {
	var nodes [AtOnce]*node
	var at, sizes [AtOnce]int
	for i := range keys {
		nodes[i] = t.root
	}
	for level := t.level; level > 0; level-- {
		for i, key := range keys {
			at[i] = nodes[i].inner().kid(key)
		}
		for i := range keys {
			nodes[i] = nodes[i].inner().kids[at[i]]
		}
		for i := range keys {
			sum += nodes[i].touch(level - 1)
		}
	}
	for i, key := range keys {
		l := nodes[i].leaf()
		head := headOf(key, int(l.prefix))
		if at[i] = firstHead(l.heads[:l.n], head); at[i] == int(l.n) || l.heads[at[i]] != head {
			at[i] = -1
		}
	}
	for i := range keys {
		rows[i] = Row{}
		if at[i] >= 0 {
			rows[i] = nodes[i].leaf().rows[at[i]]
		}
	}
	for i := range keys {
		sizes[i] = rows[i].touchedSize()
	}
	for i := range keys {
		for from := lineSize; from < sizes[i]; from += lineSize {
			sum += uint64(rows[i].bytes(from, 1)[0])
		}
	}
	return sum
}

// needed takes a number, so that the compiler does not leave out what it is made from.
//
//go:noinline
func needed(uint64) {}

// touch reads the lines of a node in which its heads are.
func (n *node) touch(level int) (sum uint64) {
	const perLine = lineSize / 8
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
