// Package keys has what ordered structures need to compare keys and to look for them quickly.
package keys

import "encoding/binary"

// Head is the first eight bytes of a key as a number. The head of a greater key is never smaller. Missing bytes are
// zero.
func Head(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var padded [8]byte
	copy(padded[:], key)
	return binary.BigEndian.Uint64(padded[:])
}

// Shared is how many bytes two keys have in common at the beginning.
func Shared(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
