package badger

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

func holeKey(i int) []byte { return fmt.Appendf(nil, "holes-%06d", i) }

// keysOf are the keys of a range, which are the same in both directions.
func keysOf(t *testing.T, r engine.Reader, start, end []byte) []string {
	t.Helper()
	forward, back := scanKeys(t, r, start, end, false), scanKeys(t, r, start, end, true)
	slices.Reverse(back)
	if !slices.Equal(forward, back) {
		t.Fatalf("from %s to %s there are %d keys, and backwards %d", start, end, len(forward), len(back))
	}
	return forward
}

func scanKeys(t *testing.T, r engine.Reader, start, end []byte, reverse bool) (keys []string) {
	t.Helper()
	err := r.Scan(start, end, engine.ScanOptions{KeysOnly: true, Reverse: reverse}, func(key, _ []byte) (bool, error) {
		keys = append(keys, string(key))
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestHoles deletes and writes ranges of keys at random and compares what scans find, most of which step over holes, with
// a map. A reader from before sees what was there then.
func TestHoles(t *testing.T) {
	e := openWith(t, Options{}, nil)
	defer func() { _ = e.Close() }()
	random := rand.New(rand.NewPCG(3, 4))
	const n = 2000
	there := map[string]bool{}
	change := func(kind engine.OpKind, from, count int) {
		var ops []engine.Op
		for i := from; i < min(from+count, n); i++ {
			ops = append(ops, engine.Op{Kind: kind, Key: holeKey(i), Value: []byte("v")})
			if there[string(holeKey(i))] = true; kind == engine.Delete {
				delete(there, string(holeKey(i)))
			}
		}
		done := make(chan error, 1)
		e.Commit(ops, func(err error) { done <- err })
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	sorted := func() (keys []string) {
		for k := range there {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		return keys
	}
	stepped := 0
	for range 100 {
		change(engine.Put, random.IntN(n), random.IntN(20))
		change(engine.Delete, random.IntN(n), random.IntN(1000))
		before := sorted()
		err := e.View(func(r engine.Reader) error {
			change(engine.Put, random.IntN(n), 3)
			if got := keysOf(t, r, holeKey(0), holeKey(n)); !slices.Equal(got, before) {
				t.Fatalf("a reader from before sees %d keys instead of %d", len(got), len(before))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		start, end := holeKey(random.IntN(n)), holeKey(random.IntN(n))
		var want []string
		for _, k := range sorted() {
			if k >= string(start) && k < string(end) {
				want = append(want, k)
			}
		}
		if got := keysOf(t, e, start, end); !slices.Equal(got, want) {
			t.Fatalf("%d keys instead of %d", len(got), len(want))
		}
		time.Sleep(time.Millisecond)
		if len(e.current.Load().holes) > 0 {
			stepped++
		}
	}
	if stepped < 30 {
		t.Errorf("there were holes only %d times", stepped)
	}
}

// TestHoleAtTheEnd empties the end of a range as one does who takes the last of them again and again: scans from there do
// not walk over what was deleted for long.
func TestHoleAtTheEnd(t *testing.T) {
	e := openWith(t, Options{}, nil)
	defer func() { _ = e.Close() }()
	const n = 20000
	commit := func(kind engine.OpKind, from int) {
		for chunk := range slices.Chunk(make([]engine.Op, n-from), 1000) {
			for i := range chunk {
				chunk[i] = engine.Op{Kind: kind, Key: holeKey(from + i), Value: []byte("v")}
			}
			from += len(chunk)
			done := make(chan error, 1)
			e.Commit(chunk, func(err error) { done <- err })
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
	}
	commit(engine.Put, 0)
	commit(engine.Delete, 5)
	deadline := time.Now().Add(10 * time.Second)
	for e.current.Load().holes.before(holeKey(n)) == nil {
		if time.Now().After(deadline) {
			t.Fatal("the hole is not known")
		}
		if got := scanKeys(t, e, holeKey(0), holeKey(n), true); len(got) != 5 || got[0] != string(holeKey(4)) {
			t.Fatalf("there are %q", got)
		}
		time.Sleep(time.Millisecond)
	}
	if got := keysOf(t, e, holeKey(0), holeKey(n)); len(got) != 5 {
		t.Errorf("%d keys", len(got))
	}
}

// TestHolesUnite keeps holes apart, unites those that meet, and divides one that is written to.
func TestHolesUnite(t *testing.T) {
	var hs holes
	hs = hs.with(hole{[]byte("c"), []byte("e"), 1000}).with(hole{[]byte("k"), []byte("m"), 1000}).with(hole{[]byte("a"), []byte("b"), 1000})
	if got := fmt.Sprintf("%s", hs.ranges()); got != "[a-b c-e k-m]" {
		t.Error(got)
	}
	hs = hs.with(hole{[]byte("b"), []byte("d"), 1000})
	if got := fmt.Sprintf("%s", hs.ranges()); got != "[a-e k-m]" {
		t.Error(got)
	}
	hs = hs.without([]byte("b")).without([]byte("k")).without([]byte("z"))
	if got := fmt.Sprintf("%q", hs.ranges()); got != `["a-b" "b\x00-e" "k\x00-m"]` {
		t.Error(got)
	}
	for key, in := range map[string]bool{"a": true, "b": false, "b\x00": true, "e": false, "m": false, "l": true, "": false} {
		if got := hs.at([]byte(key)) != nil; got != in {
			t.Errorf("%q: %t", key, got)
		}
	}
	for end, in := range map[string]bool{"a": false, "a\x00": true, "b": true, "b\x00": false, "c": true, "e": true, "e\x00": false, "": false} {
		if got := hs.before([]byte(end)) != nil; got != in {
			t.Errorf("before %q: %t", end, got)
		}
	}
	for i := range 2 * maxHoles {
		hs = hs.with(hole{holeKey(2 * i), holeKey(2*i + 1), walkable + i})
	}
	if len(hs) != maxHoles || !slices.IsSortedFunc(hs, func(a, b hole) int { return bytes.Compare(a.start, b.start) }) {
		t.Errorf("%d holes", len(hs))
	}
}

func (hs holes) ranges() (all []string) {
	for _, h := range hs {
		all = append(all, string(h.start)+"-"+string(h.end))
	}
	return all
}

// TestHoleFromTheFirstKey has a hole that begins with the first key that there can be: a scan backwards from its end finds
// nothing, and not what is behind it.
func TestHoleFromTheFirstKey(t *testing.T) {
	e := openWith(t, Options{}, enginetest.Union)
	defer e.Close()
	result := make(chan error, 1)
	e.Commit([]engine.Op{{Key: []byte("z"), Value: []byte("1")}}, func(err error) { result <- err })
	must(t, <-result)
	e.probeRange(&hole{nil, []byte("m"), 2 * walkable})
	if keys := scanKeys(t, e, nil, []byte("m"), true); len(keys) > 0 {
		t.Errorf("keys before m are %q", keys)
	}
}
