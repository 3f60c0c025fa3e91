package tree

import "slices"

// touchAtOnce is how many rows Touch fetches at a time: more than a processor waits for at a time.
const touchAtOnce = 16

// touchLevel is the least level of a tree that is touched: a smaller one is in the processor's caches most of the time.
const touchLevel = 3

// The processor fetches memory in lines. Of a long row only the first ones are touched.
const (
	lineSize     = 64
	headsPerLine = lineSize / 8
	touchedBytes = 512
)

// Touch fetches the rows of some keys into the processor's caches, so that Get finds them there. Get waits for memory
// at each step through a large tree. Touch goes a step for all keys before it goes the next one, so that the processor
// waits for all of them at the same time.
func (t *Tree) Touch(keys [][]byte) {
	if t.level < touchLevel {
		return
	}
	for some := range slices.Chunk(keys, touchAtOnce) {
		var rows [touchAtOnce]Row
		needed(t.touch(some, &rows))
	}
}

// touch fetches the rows of as many as touchAtOnce keys, and returns a number that is made from all that was fetched.
// Where several keys begin with the same head it may be the row of another one.
func (t *Tree) touch(keys [][]byte, rows *[touchAtOnce]Row) (sum uint64) {
	var nodes [touchAtOnce]*node
	var at, sizes [touchAtOnce]int
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
		at[i] = min(firstHead(l.heads[:l.n], headOf(key, int(l.prefix))), leafRows-1)
	}
	for i := range keys {
		rows[i] = nodes[i].leaf().rows[at[i]]
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
	heads := n.leaf().heads[:]
	if level > 0 {
		heads = n.inner().heads[:]
	}
	for i := 0; i < len(heads); i += headsPerLine {
		sum += heads[i]
	}
	return sum + heads[len(heads)-1]
}

// touchedSize is how many bytes of the row are touched.
func (r Row) touchedSize() int {
	if r.None() || r.Long() != nil {
		return 0
	}
	head, key, value := r.lengths()
	return min(head+key+value, touchedBytes)
}
