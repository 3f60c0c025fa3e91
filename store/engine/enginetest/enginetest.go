// Package enginetest tests the contract of store/engine. Every engine's tests call Run with a Harness that opens the
// engine. Memory is an engine for tests that uses all the freedom of the contract.
package enginetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/store/engine"
)

// Harness opens the engine under test.
type Harness struct {
	// Open opens an empty engine. The caller closes it.
	Open func(t *testing.T, fold engine.Fold) engine.Engine

	// Reopen closes an engine and opens it again; nil if its data is lost when it is closed.
	Reopen func(t *testing.T, e engine.Engine, fold engine.Fold) engine.Engine

	// MaxValue bounds the values that the suite writes and merges, in bytes, where the store takes no longer messages; 0:
	// those of Limits.
	MaxValue int

	// Flushes is set if the engine folds in the background, so that it may notice at any time that a fold fails.
	Flushes bool
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	for _, c := range []struct {
		name string
		test func(*testing.T, engine.Engine)
	}{
		{"keys compare as unsigned bytes", keyOrder},
		{"scans have bounds and directions", scanBounds},
		{"scans stop early", scanStops},
		{"scans find the last of many writes", manyWrites},
		{"get", get},
		{"get many", getMany},
		{"commits replace, delete and merge", commitKinds},
		{"commits are atomic for snapshots", commitsAreAtomic},
		{"views do not change", viewsDoNotChange},
		{"gets are of one snapshot", getsAreOfOneSnapshot},
		{"reads follow commits", readsFollow},
		{"merges in any order", mergesInAnyOrder},
		{"updates see their own writes", updatesSeeTheirWrites},
		{"updates write lent operations", updatesTakeLoans},
		{"updates that fail write nothing", updatesFail},
		{"updates with a guard are serial", updatesAreSerial},
		{"callbacks read and commit", callbacks},
		{"folds fail", func(t *testing.T, e engine.Engine) { foldsFail(t, e, h.Flushes) }},
		{"updates do not undo commits", updatesDoNotUndo},
		{"updates run again", updatesRunAgain},
		{"arguments are not kept", argumentsAreFree},
		{"delete range", deleteRange},
		{"sync", syncs},
		{"limits", func(t *testing.T, e engine.Engine) { limits(t, e, h.MaxValue) }},
		{"broken rules", brokenRules},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := h.Open(t, Union)
			c.test(t, e)
			must(t, e.Close())
		})
	}
	t.Run("closed", func(t *testing.T) { closed(t, h.Open(t, Union)) })
	t.Run("close waits", func(t *testing.T) { closeWaits(t, h.Open(t, Union)) })
	t.Run("close waits for updates", func(t *testing.T) { closeWaitsForUpdates(t, h.Open(t, Union)) })
	if h.Reopen != nil {
		t.Run("reopen", func(t *testing.T) { reopen(t, h) })
	}
}

// Union is the fold of the suite: values are sets of words, sorted and separated by spaces.
// Values that begin with "damaged" cannot be folded.
func Union(dst, _, existing, delta []byte) ([]byte, error) {
	if bytes.HasPrefix(existing, []byte("damaged")) {
		return nil, errDamaged
	}
	words := append(strings.Fields(string(existing)), strings.Fields(string(delta))...)
	slices.Sort(words)
	return append(dst, strings.Join(slices.Compact(words), " ")...), nil
}

var errDamaged = errors.New("it is damaged")

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// commit commits and waits.
func commit(e engine.Engine, ops ...engine.Op) error {
	done := make(chan error, 1)
	e.Commit(ops, func(err error) { done <- err })
	return <-done
}

func put(key, value string) engine.Op {
	return engine.Op{Kind: engine.Put, Key: []byte(key), Value: []byte(value)}
}

func del(key string) engine.Op { return engine.Op{Kind: engine.Delete, Key: []byte(key)} }

func merge(key, delta string) engine.Op {
	return engine.Op{Kind: engine.Merge, Key: []byte(key), Value: []byte(delta)}
}

// update updates until there is no conflict.
func update(e engine.Engine, guard string, fn func(engine.Txn) error) error {
	for {
		if err := engine.Update(context.Background(), e, []byte(guard), fn); !errors.Is(err, engine.ErrConflict) {
			return err
		}
	}
}

// value is the value of a key, "" if it has none.
func value(t *testing.T, r engine.Reader, key string) string {
	t.Helper()
	v := ""
	found, err := r.Get([]byte(key), func(b []byte) error {
		v = string(b)
		return nil
	})
	must(t, err)
	if found != (v != "") {
		t.Fatalf("get %q: found %v, value %q", key, found, v)
	}
	return v
}

// dump scans a range: "k=v k=v".
func dump(t *testing.T, r engine.Reader, start, end string, o engine.ScanOptions) string {
	t.Helper()
	var out []string
	must(t, r.Scan([]byte(start), []byte(end), o, func(k, v []byte) (bool, error) {
		if o.KeysOnly {
			if v != nil {
				t.Errorf("scan of keys has value %q", v)
			}
			out = append(out, string(k))
		} else {
			out = append(out, string(k)+"="+string(v))
		}
		return true, nil
	}))
	return strings.Join(out, " ")
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func keyOrder(t *testing.T, e engine.Engine) {
	keys := []string{
		"\x00", "\x00\x00", "\x00\x00\xff", "\x00\x01", "\x01", "a", "a\x00", "a\x00b", "ab", "b", "\x7f",
		"\x80", "\xfe\xff", "\xff", "\xff\xff",
	}
	slices.Sort(keys)
	for i := range keys {
		must(t, commit(e, put(keys[(i*7+3)%len(keys)], "x")))
	}
	var got []string
	for _, reverse := range []bool{false, true} {
		got = got[:0]
		must(t, e.Scan(nil, nil, engine.ScanOptions{Reverse: reverse}, func(k, _ []byte) (bool, error) {
			got = append(got, string(k))
			return true, nil
		}))
		if reverse {
			slices.Reverse(got)
		}
		if !slices.Equal(got, keys) {
			t.Errorf("reverse %v: got %q, want %q", reverse, got, keys)
		}
	}
}

func scanBounds(t *testing.T, e engine.Engine) {
	must(t, commit(e, put("a", "1"), put("ab", "2"), put("b", "3"), put("ba", "4"), put("c", "5")))
	for _, c := range []struct {
		start, end string
		o          engine.ScanOptions
		want       string
	}{
		{"", "", engine.ScanOptions{}, "a=1 ab=2 b=3 ba=4 c=5"},
		{"ab", "c", engine.ScanOptions{}, "ab=2 b=3 ba=4"},
		{"ab", "c", engine.ScanOptions{Reverse: true}, "ba=4 b=3 ab=2"},
		{"aa", "bz", engine.ScanOptions{Reverse: true}, "ba=4 b=3 ab=2"},
		{"b", "", engine.ScanOptions{Reverse: true}, "c=5 ba=4 b=3"},
		{"", "b", engine.ScanOptions{}, "a=1 ab=2"},
		{"b", "bb", engine.ScanOptions{KeysOnly: true}, "b ba"},
		{"b", "bb", engine.ScanOptions{KeysOnly: true, Reverse: true}, "ba b"},
		{"b", "b", engine.ScanOptions{}, ""},
		{"c", "b", engine.ScanOptions{}, ""},
		{"c", "b", engine.ScanOptions{Reverse: true}, ""},
		{"d", "", engine.ScanOptions{}, ""},
	} {
		expect(t, fmt.Sprintf("scan %q to %q %+v", c.start, c.end, c.o), dump(t, e, c.start, c.end, c.o), c.want)
	}
}

func scanStops(t *testing.T, e engine.Engine) {
	must(t, commit(e, put("a", "1"), put("b", "2"), put("c", "3"), put("d", "4")))
	for _, reverse := range []bool{false, true} {
		n := 0
		must(t, e.Scan(nil, nil, engine.ScanOptions{Reverse: reverse}, func(_, _ []byte) (bool, error) {
			n++
			return n < 2, nil
		}))
		if n != 2 {
			t.Errorf("reverse %v: %d keys, want 2", reverse, n)
		}
	}
	broken := errors.New("broken")
	err := e.Scan(nil, nil, engine.ScanOptions{}, func(_, _ []byte) (bool, error) { return true, broken })
	if !errors.Is(err, broken) {
		t.Errorf("scan returns %v, want the callback's error", err)
	}
}

// manyWrites writes a few keys again and again, one commit after the other, and deletes some of them.
func manyWrites(t *testing.T, e engine.Engine) {
	must(t, commit(e, put("a", "1"), put("d", "1"), put("e", "1")))
	early := ""
	must(t, e.View(func(r engine.Reader) error {
		for i := range 50 {
			v := fmt.Sprint(i)
			must(t, commit(e, put("b", v), put("c", v), put("d", v), put("bb", v)))
		}
		must(t, commit(e, del("c"), del("e"), put("f", "1")))
		early = dump(t, r, "", "", engine.ScanOptions{})
		return nil
	}))
	expect(t, "before", early, "a=1 d=1 e=1")
	expect(t, "forward", dump(t, e, "", "", engine.ScanOptions{}), "a=1 b=49 bb=49 d=49 f=1")
	expect(t, "part", dump(t, e, "b", "d", engine.ScanOptions{}), "b=49 bb=49")
	expect(t, "reverse", dump(t, e, "a", "f", engine.ScanOptions{Reverse: true}), "d=49 bb=49 b=49 a=1")
}

func get(t *testing.T, e engine.Engine) {
	must(t, commit(e, put("a", "1"), put("ab", "2")))
	expect(t, "a", value(t, e, "a"), "1")
	expect(t, "ab", value(t, e, "ab"), "2")
	expect(t, "b", value(t, e, "b"), "")
	broken := errors.New("broken")
	if _, err := e.Get([]byte("a"), func([]byte) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("get returns %v, want the callback's error", err)
	}
}

// getMany gets keys of which some are not there, some come twice and some are being folded, with callbacks that read.
func getMany(t *testing.T, e engine.Engine) {
	var keys [][]byte
	for i := range 60 {
		key := fmt.Sprintf("many %02d", i%50)
		keys = append(keys, []byte(key))
		switch i % 5 {
		case 0:
		case 1:
			must(t, commit(e, put(key, "a"), merge(key, fmt.Sprint("b", i))))
		default:
			must(t, commit(e, put(key, fmt.Sprint(i))))
		}
	}
	broken := errors.New("broken")
	must(t, e.View(func(r engine.Reader) error {
		many, ok := r.(engine.ManyGetter)
		if !ok {
			return nil
		}
		for _, n := range []int{0, 1, 2, 15, 16, 17, 60} {
			for _, stop := range []int{1, n - 1, n + 1} {
				next := 0
				err := many.GetMany(keys[:n], func(i int, got []byte) (bool, error) {
					want := value(t, r, string(keys[i]))
					if i != next || string(got) != want || got == nil != (want == "") {
						t.Errorf("call %d is for key %d, %q, want %q", next, i, got, want)
					}
					next++
					return next != stop, nil
				})
				if want := min(n, max(stop, 1)); err != nil || next != want {
					t.Errorf("of %d keys %d were got, want %d: %v", n, next, want, err)
				}
			}
		}
		calls := 0
		err := many.GetMany(keys, func(i int, _ []byte) (bool, error) {
			calls++
			if i == 20 {
				return true, broken
			}
			return true, nil
		})
		if calls != 21 || !errors.Is(err, broken) {
			t.Errorf("%d calls and %v, want the callback's error", calls, err)
		}
		return nil
	}))
}

// readsFollow reads keys before and after everything that can change them.
func readsFollow(t *testing.T, e engine.Engine) {
	must(t, commit(e, put("a", "1"), put("b", "1"), put("c", "1")))
	check := func(what, a, b, c string) {
		t.Helper()
		for range 2 {
			got := []string{value(t, e, "a"), value(t, e, "b"), value(t, e, "c")}
			if want := []string{a, b, c}; !slices.Equal(got, want) {
				t.Errorf("%s: got %q, want %q", what, got, want)
			}
		}
	}
	check("put", "1", "1", "1")
	must(t, commit(e, merge("a", "2"), put("b", "2"), del("c")))
	check("changed", "1 2", "2", "")
	must(t, commit(e, put("a", strings.Repeat("x", 40<<10)), merge("c", "3")))
	check("long", strings.Repeat("x", 40<<10), "2", "3")
	must(t, e.DeleteRange([]byte("a"), []byte("b\x00")))
	check("range deleted", "", "", "3")
	must(t, commit(e, merge("a", "4"), merge("b", "4"), merge("a", "5"), del("c"), merge("c", "4")))
	check("merged", "4 5", "4", "4")

	// A commit that is refused changes nothing.
	refused := commit(e, put("a", "6"), merge("c", "5"), put("b", strings.Repeat("h", e.Limits().CommitBytes)))
	if !errors.Is(refused, engine.ErrTooLarge) {
		t.Errorf("a commit over the limit: %v", refused)
	}
	err := update(e, "g", func(txn engine.Txn) error {
		txn.Put([]byte("a"), []byte("7"))
		txn.Merge([]byte("b"), []byte("7"))
		txn.Delete([]byte("c"))
		return errors.New("broken")
	})
	if err == nil {
		t.Error("an update that fails succeeds")
	}
	check("refused", "4 5", "4", "4")
}

func commitKinds(t *testing.T, e engine.Engine) {
	must(t, commit(e, put("a", "x"), put("b", "x"), put("c", "x"), del("nothing")))
	must(t, commit(e, put("a", "y"), del("b"), merge("c", "y"), merge("d", "y")))
	expect(t, "after", dump(t, e, "", "", engine.ScanOptions{}), "a=y c=x y d=y")

	// Operations on one key happen in their order.
	must(t, commit(e, put("a", "1"), merge("a", "2"), merge("a", "3"), merge("b", "1"), del("b"), merge("b", "2"),
		del("c"), put("d", "4"), del("d")))
	expect(t, "same keys", dump(t, e, "", "", engine.ScanOptions{}), "a=1 2 3 b=2")
	var many []engine.Op
	for i := range 100 {
		many = append(many, merge(fmt.Sprintf("m%d", i%10), fmt.Sprintf("w%d", i/10)))
	}
	must(t, commit(e, many...))
	expect(t, "many", value(t, e, "m7"), "w0 w1 w2 w3 w4 w5 w6 w7 w8 w9")
	must(t, commit(e))
}

// closed checks that a closed engine says so.
func closed(t *testing.T, e engine.Engine) {
	must(t, e.Close())
	ignore := func(_, _ []byte) (bool, error) { return true, nil }
	_, getErr := e.Get([]byte("a"), func([]byte) error { return nil })
	for name, err := range map[string]error{
		"get":          getErr,
		"scan":         e.Scan(nil, nil, engine.ScanOptions{}, ignore),
		"view":         e.View(func(engine.Reader) error { return nil }),
		"commit":       commit(e, put("a", "1")),
		"update":       engine.Update(context.Background(), e, []byte("g"), func(engine.Txn) error { return nil }),
		"delete range": e.DeleteRange([]byte("a"), []byte("b")),
		"sync":         e.Sync(),
		"close":        e.Close(),
	} {
		if !errors.Is(err, engine.ErrClosed) {
			t.Errorf("%s of a closed engine returns %v", name, err)
		}
	}
}

func syncs(t *testing.T, e engine.Engine) {
	must(t, e.Sync())
	must(t, commit(e, put("a", "1")))
	must(t, e.Sync())
	must(t, e.Sync())
}

func brokenRules(t *testing.T, e engine.Engine) {
	for name, op := range map[string]engine.Op{
		"empty key":   put("", "x"),
		"empty value": put("a", ""),
		"empty delta": merge("a", ""),
	} {
		if err := commit(e, put("b", "1"), op); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	expect(t, "after", dump(t, e, "", "", engine.ScanOptions{}), "")
}

func limits(t *testing.T, e engine.Engine, maxValue int) {
	l := e.Limits()
	if l.Key < 1024 || l.Value < 64<<10 || l.CommitBytes < l.Value || l.CommitOps < 1000 {
		t.Errorf("limits are too small: %+v", l)
	}
	long := bytes.Repeat([]byte("k"), l.Key)
	must(t, commit(e, engine.Op{Key: long, Value: []byte("1")}))
	expect(t, "longest key", value(t, e, string(long)), "1")

	longest := min(l.Value, l.CommitBytes-100)
	length := min(l.CommitBytes, l.Value) / 2
	if maxValue > 0 {
		longest, length = min(longest, maxValue), min(length, maxValue/4) // three are merged
	}
	largest := strings.Repeat("l", longest)
	must(t, commit(e, put("largest", largest)))
	if value(t, e, "largest") != largest {
		t.Error("the largest value is another")
	}
	must(t, commit(e, del("largest")))
	half := strings.Repeat("h", length)
	var full []engine.Op
	for i := range l.CommitBytes/len(half) + 1 {
		full = append(full, put(fmt.Sprint("full", i), half))
	}
	tooMany := make([]engine.Op, l.CommitOps+1)
	for i := range tooMany {
		tooMany[i] = put(fmt.Sprint("k", i), "1")
	}
	for name, ops := range map[string][]engine.Op{
		"key":   {put("a", "1"), {Key: append(long, 'k'), Value: []byte("1")}},
		"value": {put("a", "1"), put("b", strings.Repeat("l", l.Value+1))},
		"bytes": append(full, put("a", "1")),
		"ops":   tooMany,
	} {
		if err := commit(e, ops...); !errors.Is(err, engine.ErrTooLarge) {
			t.Errorf("%s over the limit: %v", name, err)
		}
	}
	expect(t, "a", value(t, e, "a"), "")

	// A merge may be too large only when it is folded: it is taken, or refused with all of its commit.
	must(t, commit(e, put("b", half+"1")))
	switch err := commit(e, put("a", "1"), merge("b", half+"2"), merge("b", half+"3")); {
	case err == nil:
		expect(t, "b", value(t, e, "b"), half+"1 "+half+"2 "+half+"3")
		must(t, commit(e, del("a")))
	case !errors.Is(err, engine.ErrTooLarge):
		t.Errorf("merge over the limit: %v", err)
	}
	expect(t, "a", value(t, e, "a"), "")
	err := update(e, "g", func(txn engine.Txn) error {
		txn.Put([]byte("a"), []byte("1"))
		for _, op := range full {
			txn.Put(op.Key, op.Value)
		}
		return nil
	})
	if !errors.Is(err, engine.ErrTooLarge) {
		t.Errorf("update over the limit: %v", err)
	}
	expect(t, "a", value(t, e, "a"), "")
}

func deleteRange(t *testing.T, e engine.Engine) {
	var ops []engine.Op
	for i := range 5000 {
		ops = append(ops, put(fmt.Sprintf("k%05d", i), "1"))
		if len(ops) == 500 {
			must(t, commit(e, ops...))
			ops = nil
		}
	}
	count := func(what string, r engine.Reader, want int) {
		n := 0
		must(t, r.Scan(nil, nil, engine.ScanOptions{KeysOnly: true}, func(_, _ []byte) (bool, error) {
			n++
			return true, nil
		}))
		if n != want {
			t.Errorf("%s: %d keys are left, want %d", what, n, want)
		}
	}
	must(t, e.View(func(r engine.Reader) error {
		for range 2 {
			must(t, e.DeleteRange([]byte("k00010"), []byte("k04990")))
		}
		count("a view from before", r, 5000)
		return nil
	}))
	count("afterwards", e, 20)
	expect(t, "first", dump(t, e, "k00009", "k04991", engine.ScanOptions{}), "k00009=1 k04990=1")
	must(t, e.DeleteRange([]byte("k04995"), nil))
	count("without an end", e, 15)
	must(t, e.DeleteRange([]byte("k04990"), []byte("k04990")))
	must(t, e.DeleteRange([]byte("k2"), []byte("k1")))
	count("nothing", e, 15)
	must(t, e.DeleteRange(nil, nil))
	count("all", e, 0)
}

func reopen(t *testing.T, h Harness) {
	e := h.Open(t, Union)
	must(t, commit(e, put("a", "1"), merge("b", "x"), put("c", "1")))
	must(t, commit(e, merge("b", "z"), del("c")))
	e = h.Reopen(t, e, Union)
	expect(t, "reopened", dump(t, e, "", "", engine.ScanOptions{}), "a=1 b=x z")
	must(t, commit(e, merge("b", "y"), put("a", "2")))
	expect(t, "merged", dump(t, e, "", "", engine.ScanOptions{}), "a=2 b=x y z")
	e = h.Reopen(t, e, Union)
	expect(t, "reopened again", dump(t, e, "", "", engine.ScanOptions{}), "a=2 b=x y z")
	must(t, e.Close())
}
