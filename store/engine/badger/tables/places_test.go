package tables

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBounds finds heads from any place on: in none, in few that are far apart or the same, and in many.
func TestBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, n := range []int{0, 1, 2, 3, 10, 300} {
		for range 100 {
			heads := make([]uint64, n)
			for i := range heads {
				switch heads[i] = r.Uint64() >> r.IntN(64); r.IntN(8) {
				case 0:
					heads[i] = math.MaxUint64
				case 1:
					heads[i] = heads[r.IntN(i+1)]
				}
			}
			slices.Sort(heads)
			looked := append([]uint64{0, 1, math.MaxUint64 - 1, math.MaxUint64, r.Uint64()}, heads...)
			for _, head := range looked {
				at := r.IntN(n + 1)
				low, _ := slices.BinarySearch(heads, head)
				if got := lowerBound(heads, head, at); got != low {
					t.Fatalf("%d heads, from %d on: %d is not the first that is not below %x, but %d", n, at, got, head, low)
				}
				high, _ := slices.BinarySearchFunc(heads, head, func(h, head uint64) int {
					return cmp.Or(cmp.Compare(h, head), -1)
				})
				if got := upperBound(heads, head, at); got != high {
					t.Fatalf("%d heads, from %d on: %d is not the first above %x, but %d", n, at, got, head, high)
				}
			}
		}
	}
}

// TestGuess guesses blocks of heads before, between and behind those of a table: each is one of the table's.
func TestGuess(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for _, n := range []int{1, 2, 300} {
		x := &index{heads: make([]uint64, n)}
		for i := range x.heads {
			x.heads[i] = r.Uint64() >> r.IntN(64)
		}
		slices.Sort(x.heads)
		for _, head := range append([]uint64{0, math.MaxUint64, r.Uint64()}, x.heads...) {
			if at := x.guess(head); at < 0 || at >= n {
				t.Errorf("%d blocks: %x is in block %d", n, head, at)
			}
		}
		if n > 1 && (x.guess(x.heads[0]) != 0 || x.guess(x.heads[n-1]) != n-1) {
			t.Errorf("%d blocks: the first head is in block %d, the last in %d", n, x.guess(x.heads[0]), x.guess(x.heads[n-1]))
		}
	}
}
