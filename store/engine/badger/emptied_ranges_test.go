package badger

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

func rangeKey(i int) []byte { return fmt.Appendf(nil, "range-%06d", i) }

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

// TestEmptiedRanges deletes and writes ranges of keys at random and compares what scans find, most of which step over
// emptied ranges, with a map. A snapshot from before sees what was there then.
func TestEmptiedRanges(t *testing.T) {
	e := openWith(t, Options{}, nil)
	defer func() { _ = e.Close() }()
	random := rand.New(rand.NewPCG(3, 4))
	const n = 2000
	there := map[string]bool{}
	change := func(kind engine.OpKind, from, count int) {
		var ops []engine.Op
		for i := from; i < min(from+count, n); i++ {
			ops = append(ops, engine.Op{Kind: kind, Key: rangeKey(i), Value: []byte("v")})
			if there[string(rangeKey(i))] = true; kind == engine.Delete {
				delete(there, string(rangeKey(i)))
			}
		}
		if _, err := e.Write(ops); err != nil {
			t.Fatal(err)
		}
	}
	sorted := func() []string { return slices.Sorted(maps.Keys(there)) }
	stepped := 0
	for range 100 {
		change(engine.Put, random.IntN(n), random.IntN(20))
		change(engine.Delete, random.IntN(n), random.IntN(1000))
		before := sorted()
		old := e.Snapshot()
		for range 2 {
			if got := keysOf(t, old, rangeKey(0), rangeKey(n)); !slices.Equal(got, before) {
				t.Fatalf("a snapshot from before sees %d keys instead of %d", len(got), len(before))
			}
			change(engine.Put, random.IntN(n), 3)
		}
		if len(old.emptied.get()) > 0 {
			stepped++
		}
		s := e.Snapshot()
		old.Release()
		start, end := rangeKey(random.IntN(n)), rangeKey(random.IntN(n))
		var want []string
		for _, k := range sorted() {
			if k >= string(start) && k < string(end) {
				want = append(want, k)
			}
		}
		if got := keysOf(t, s, start, end); !slices.Equal(got, want) {
			t.Fatalf("%d keys instead of %d", len(got), len(want))
		}
		s.Release()
	}
	if stepped < 30 {
		t.Errorf("ranges were emptied only %d times", stepped)
	}
}

// TestEmptiedEnd empties the end of a range as one does who takes the last of them again and again: scans from
// there do not walk over what was deleted for long, and the next snapshot knows it too. So it is if Badger is asked.
func TestEmptiedEnd(t *testing.T) {
	const n = 20000
	for name, scan := range map[string]func(
		s *Snapshot, start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error),
	) error{"tables": (*Snapshot).Scan, "Badger": (*Snapshot).scanBadger} {
		e := openWith(t, Options{}, nil)
		writeAll := func(kind engine.OpKind, from int) {
			var ops []engine.Op
			for i := from; i < n; i++ {
				ops = append(ops, engine.Op{Kind: kind, Key: rangeKey(i), Value: []byte("v")})
			}
			if _, err := e.Write(ops); err != nil {
				t.Fatal(err)
			}
		}
		writeAll(engine.Put, 0)
		writeAll(engine.Delete, 5)
		s := e.Snapshot()
		var got []string
		o := engine.ScanOptions{KeysOnly: true, Reverse: true}
		err := scan(s, rangeKey(0), rangeKey(n), o, func(key, _ []byte) (bool, error) {
			got = append(got, string(key))
			return true, nil
		})
		if err != nil || len(got) != 5 || got[0] != string(rangeKey(4)) {
			t.Fatalf("%s: there are %q, %v", name, got, err)
		}
		if s.emptied.get().at(rangeKey(n-1)) == nil {
			t.Errorf("%s: the emptied range is not known", name)
		}
		write(t, e, engine.Op{Key: rangeKey(10), Value: []byte("v")})
		next := e.Snapshot()
		s.Release()
		if next.emptied.get().at(rangeKey(n-1)) == nil {
			t.Errorf("%s: the emptied range is forgotten", name)
		}
		if got := keysOf(t, next, rangeKey(0), rangeKey(n)); len(got) != 6 {
			t.Errorf("%s: %d keys", name, len(got))
		}
		next.Release()
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRangesUnite keeps emptied ranges apart, unites ranges that meet, and divides a range that is written to.
func TestRangesUnite(t *testing.T) {
	var rs emptiedRanges
	rs = rs.with(emptiedRange{[]byte("c"), []byte("e"), 1000}).with(emptiedRange{
		[]byte("k"), []byte("m"),
		1000,
	}).with(emptiedRange{[]byte("a"), []byte("b"), 1000})
	if got := fmt.Sprintf("%s", rs.ranges()); got != "[a-b c-e k-m]" {
		t.Error(got)
	}
	rs = rs.with(emptiedRange{[]byte("b"), []byte("d"), 1000})
	if got := fmt.Sprintf("%s", rs.ranges()); got != "[a-e k-m]" {
		t.Error(got)
	}
	rs = rs.without([]byte("b")).without([]byte("k")).without([]byte("z"))
	if got := fmt.Sprintf("%q", rs.ranges()); got != `["a-b" "b\x00-e" "k\x00-m"]` {
		t.Error(got)
	}
	for key, in := range map[string]bool{
		"a": true, "b": false, "b\x00": true, "e": false, "m": false, "l": true,
		"": false,
	} {
		if got := rs.at([]byte(key)) != nil; got != in {
			t.Errorf("%q: %t", key, got)
		}
	}
	for end, in := range map[string]bool{
		"a": false, "a\x00": true, "b": true, "b\x00": false, "c": true, "e": true,
		"e\x00": false, "": false,
	} {
		if got := rs.before([]byte(end)) != nil; got != in {
			t.Errorf("before %q: %t", end, got)
		}
	}
	for i := range 2 * maxEmptied {
		rs = rs.with(emptiedRange{rangeKey(2 * i), rangeKey(2*i + 1), walkable + i})
	}
	if len(rs) != maxEmptied || !slices.IsSortedFunc(rs,
		func(a, b emptiedRange) int { return bytes.Compare(a.start, b.start) }) {
		t.Errorf("%d ranges", len(rs))
	}
}

func (rs emptiedRanges) ranges() (all []string) {
	for _, h := range rs {
		all = append(all, string(h.start)+"-"+string(h.end))
	}
	return all
}

// TestRangeFromTheFirstKey empties a range that begins with the first possible key: a scan backwards from its end finds
// nothing, and not what is behind it.
func TestRangeFromTheFirstKey(t *testing.T) {
	e := openWith(t, Options{}, enginetest.Union)
	defer e.Close()
	write(t, e, engine.Op{Key: []byte("z"), Value: []byte("1")})
	s := e.Snapshot()
	s.emptied.add(emptiedRange{nil, []byte("m"), 2 * walkable})
	if keys := scanKeys(t, s, nil, []byte("m"), true); len(keys) > 0 {
		t.Errorf("keys before m are %q", keys)
	}
}
