package badger

import (
	"encoding/binary"
	"hash/maphash"
	"math/rand/v2"
	"testing"
)

// TestKeySet adds hashes: all of them are there, and of others few.
func TestKeySet(t *testing.T) {
	var s keySet
	r := rand.New(rand.NewPCG(1, 2))
	seed := maphash.MakeSeed()
	hash := func(i int) uint64 { return maphash.Bytes(seed, binary.AppendUvarint(nil, uint64(i))) }
	const n = 100000
	for i := range n {
		s.add(hash(i))
		if j := r.IntN(i + 1); !s.has(hash(j)) {
			t.Fatalf("%d is not there after %d", j, i)
		}
	}
	wrong := 0
	for i := range n {
		if s.has(hash(n + i)) {
			wrong++
		}
	}
	if wrong > n/20 {
		t.Errorf("%d of %d that were not added are there", wrong, n)
	}
	bits := 0
	for _, l := range s.layers {
		bits += 512 * len(l.blocks)
	}
	if bits > 40*n {
		t.Errorf("%d bits for each", bits/n)
	}
}
