package schema

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf16"
)

// Cassandra goes over Java's hash maps where it prints names or looks at them one by one. The functions here put
// names into the order of such a map.

// places is the number of places of a hash map.
type places uint32

// firstPlaces is the number of places of a new hash map by default.
const firstPlaces places = 16

// roomFor is the number of places of a map that began with p when it has n entries: it grows when three of four are
// used.
func (p places) roomFor(n int) places {
	for n > int(p)*3/4 {
		p *= 2
	}
	return p
}

// of is the place of a hash code.
func (p places) of(hash uint32) uint32 { return (hash ^ hash>>16) & uint32(p-1) }

// textHash is the hash code of Java's strings.
func textHash(s string) uint32 {
	var h uint32
	for _, unit := range utf16.Encode([]rune(s)) {
		h = 31*h + uint32(unit)
	}
	return h
}

// bytesHash is the hash code of Java's byte buffers, as Cassandra's names of columns have it.
func bytesHash(s string) uint32 {
	h := uint32(1)
	for i := len(s) - 1; i >= 0; i-- {
		h = 31*h + uint32(int8(s[i]))
	}
	return h
}

// hashOrder sorts texts, given in the order they were put in, as a hash map of strings has them: error texts list the
// remaining keys of one.
func hashOrder(keys []string) []string { return hashOrderFrom(keys, firstPlaces) }

// hashOrderFrom is hashOrder for a map that began with that many places.
func hashOrderFrom(keys []string, began places) []string {
	p := began.roomFor(len(keys))
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(p.of(textHash(a)), p.of(textHash(b))) })
	return keys
}

// HashSet prints a set of texts as Java does: [b, a].
func HashSet(keys []string) string { return "[" + strings.Join(hashOrder(keys), ", ") + "]" }

// NameOrder returns the indexes of names of columns or fields, of each name its last, in the order of a hash map by
// name.
func NameOrder(names []string) []int {
	last := make(map[string]int, len(names))
	for i, name := range names {
		last[name] = i
	}
	order := make([]int, 0, len(last))
	for i, name := range names {
		if last[name] == i {
			order = append(order, i)
		}
	}
	p := firstPlaces.roomFor(len(order))
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(p.of(bytesHash(names[a])), p.of(bytesHash(names[b])))
	})
	return order
}

// NamesInHashOrder returns names of columns, each once, in the order in which Cassandra goes over the columns of DROP
// and RENAME: they are in a hash map.
func NamesInHashOrder(names []string) []string {
	var once []string
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	sorted := make([]string, 0, len(once))
	for _, i := range NameOrder(once) {
		sorted = append(sorted, once[i])
	}
	return sorted
}
