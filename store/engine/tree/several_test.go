package tree

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/cqld/cqld/store/engine/keys"
)

// TestGetSeveral gets rows of small trees and of large ones: those that Get finds, whichever keys there are beside
// them.
func TestGetSeveral(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, together := range []string{"abcd", "abcdefghijkl"} { // keys have heads of their own in leaves, or not
		key := func(n int) []byte {
			k := binary.BigEndian.AppendUint32(nil, uint32(n))
			if len(together) > 8 {
				return append(append(k[:2:2], together...), k[2:]...)
			}
			return append([]byte(together), k...)
		}
		for _, n := range []int{0, 1, leafRows, 2_000, 100_000} {
			tr := New()
			var path Path
			order := r.Perm(n)
			for _, i := range order {
				k := key(2 * i)
				tr.Seek(k, &path)
				row := NewRow(k, bytes.Repeat([]byte{byte(i)}, 1+i%700))
				if i%100 == 0 {
					row = NewLongRow(row, NewRow(k, []byte("tail")))
				}
				tr.Put(&path, row)
			}
			found := 0
			for range 200 {
				some := [][]byte{nil, []byte("a"), []byte("b"), key(2*n + 1), key(2*r.IntN(n+1) + 1)}
				for len(some) < keys.AtOnce && n > 0 {
					some = append(some, key(2*r.IntN(n)))
				}
				var rows [keys.AtOnce]Row
				rows[0] = NewRow([]byte("left"), []byte("behind"))
				tr.GetSeveral(some, &rows)
				for i, k := range some {
					want := tr.Get(k)
					if want != rows[i] {
						t.Fatalf("of %d rows, that of %x: %v, want %v", n, k, rows[i], want)
					}
					if !want.None() {
						found++
					}
				}
			}
			if n > 0 && found == 0 {
				t.Errorf("of %d rows none was found", n)
			}
		}
	}
}
