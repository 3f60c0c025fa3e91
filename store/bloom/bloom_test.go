package bloom

import (
	"encoding/binary"
	"hash/maphash"
	"math/rand/v2"
	"runtime"
	"testing"
)

var seed = maphash.MakeSeed()

func hashOf(i int) uint64 { return maphash.Bytes(seed, binary.AppendUvarint(nil, uint64(i))) }

// TestFilter adds hashes: all of them are there, and of others few.
func TestFilter(t *testing.T) {
	f := New(NewBudget(1 << 30))
	r := rand.New(rand.NewPCG(1, 2))
	const n = 300000
	for i := range n {
		if _, ok := f.Add(hashOf(i)); !ok {
			t.Fatalf("there is no room for %d", i)
		}
		if j := r.IntN(i + 1); !f.Has(hashOf(j)) {
			t.Fatalf("%d is not there after %d", j, i)
		}
	}
	wrong := 0
	for i := range n {
		if f.Has(hashOf(n + i)) {
			wrong++
		}
	}
	if wrong > n/20 {
		t.Errorf("%d of %d that were not added are there", wrong, n)
	}
	if bits := 8 * f.Bytes(); bits > 60*n {
		t.Errorf("%d bits for each", bits/n)
	}
	if f.Count() > n || f.Count() < n*19/20 {
		t.Errorf("it counts %d of %d", f.Count(), n)
	}
}

// TestGrowth adds many hashes: no step takes much memory at once, and all together no more than a few bytes for each.
func TestGrowth(t *testing.T) {
	f := New(NewBudget(64 << 20))
	const n = 3_000_000
	most := int64(0)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	began := m.TotalAlloc
	for i := range n {
		before := f.Bytes()
		if _, ok := f.Add(hashOf(i)); !ok {
			t.Fatalf("there is no room for %d", i)
		}
		most = max(most, f.Bytes()-before)
	}
	if most > 1<<20 {
		t.Errorf("%d bytes at once", most)
	}
	if f.Bytes() > 7*n {
		t.Errorf("%d bytes for %d hashes", f.Bytes(), n)
	}
	runtime.ReadMemStats(&m)
	if spent := int64(m.TotalAlloc - began); spent > f.Bytes()+f.Bytes()/4+n*16 {
		t.Errorf("%d bytes were allocated for %d", spent, f.Bytes())
	}
}

// TestBudget fills a budget with two filters: they never have more of it than there is, and what one gives back the
// other can take.
func TestBudget(t *testing.T) {
	const size = 1 << 20
	b := NewBudget(size)
	fill := func() *Filter {
		f := New(b)
		for i := 0; ; i++ {
			if _, ok := f.Add(hashOf(i)); !ok {
				return f
			}
			if f.Bytes() > size {
				t.Fatalf("%d of %d bytes", f.Bytes(), size)
			}
		}
	}
	one := fill()
	two := fill()
	if sum := one.Bytes() + two.Bytes(); sum > size || one.Bytes() < size/4 {
		t.Errorf("%d and %d of %d bytes", one.Bytes(), two.Bytes(), size)
	}
	whole := one.Bytes()
	one.Free()
	two.Free()
	if again := fill(); again.Bytes() != whole {
		t.Errorf("%d bytes at first and %d again", whole, again.Bytes())
	}
}
