package tree

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// TestTouch fetches rows of small trees and of large ones: those that Get finds, whichever keys there are beside them.
func TestTouch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	key := func(n int) []byte { return binary.BigEndian.AppendUint32([]byte("abcd"), uint32(n)) }
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
		tr.Touch(nil)
		for range 200 {
			keys := [][]byte{nil, []byte("a"), []byte("b"), key(2*n + 1), key(2*r.IntN(n+1) + 1)}
			for len(keys) < touchAtOnce && n > 0 {
				keys = append(keys, key(2*r.IntN(n)))
			}
			var rows [touchAtOnce]Row
			tr.touch(keys, &rows)
			for i, k := range keys {
				if got := tr.Get(k); !got.None() && got != rows[i] {
					t.Fatalf("of %d rows, that of %x: touched %v, found %v", n, k, rows[i], got)
				}
			}
			tr.Touch(append(keys, keys...))
		}
	}
}
