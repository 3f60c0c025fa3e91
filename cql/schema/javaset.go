package schema

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf16"
)

// javaHash is Java's String.hashCode.
func javaHash(s string) uint32 {
	var h uint32
	for _, unit := range utf16.Encode([]rune(s)) {
		h = 31*h + uint32(unit)
	}
	return h
}

// javaOrder sorts keys, given in the order they were put in, as a Java hash map holds them: error texts list
// what is left of one.
func javaOrder(keys []string) []string { return javaOrderFrom(keys, 16) }

// javaOrderFrom is javaOrder for a map that began with that many places.
func javaOrderFrom(keys []string, size uint32) []string {
	for float64(len(keys)) > 0.75*float64(size) {
		size *= 2
	}
	bucket := func(s string) uint32 {
		h := javaHash(s)
		return (h ^ h>>16) & (size - 1)
	}
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(bucket(a), bucket(b)) })
	return keys
}

// JavaSet prints a set of strings as Java does: [b, a].
func JavaSet(keys []string) string { return "[" + strings.Join(javaOrder(keys), ", ") + "]" }
