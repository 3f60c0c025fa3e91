package memory

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// dump is all that a reader gives: "k=v k=v".
func dump(t testing.TB, r engine.Reader) string {
	t.Helper()
	var all []string
	err := r.Scan(nil, nil, engine.ScanOptions{}, func(k, v []byte) (bool, error) {
		all = append(all, string(k)+"="+string(v))
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

func expect(t testing.TB, what string, r engine.Reader, want string) {
	t.Helper()
	if got := dump(t, r); got != want {
		t.Errorf("%s holds %q, want %q", what, got, want)
	}
}

func put(key, value string) engine.Op { return engine.Op{Key: []byte(key), Value: []byte(value)} }

func remove(key string) engine.Op { return engine.Op{Kind: engine.Delete, Key: []byte(key)} }

// TestForkIsSeparate writes to an engine and to its fork: neither sees the other's writes.
func TestForkIsSeparate(t *testing.T) {
	e := Open(enginetest.Union)
	commit(t, e, put("a", "1"), put("b", "1"))
	f := e.Fork()
	g := f.Fork()
	commit(t, e, put("a", "2"), put("c", "2"))
	commit(t, f, put("a", "3"), remove("b"))
	expect(t, "the engine", e, "a=2 b=1 c=2")
	expect(t, "its fork", f, "a=3")
	expect(t, "the fork's fork", g, "a=1 b=1")
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	commit(t, f, put("d", "3"))
	expect(t, "the fork of a closed engine", f, "a=3 d=3")
	expect(t, "a fork made of a closed engine", e.Fork(), "a=2 b=1 c=2")
}

// TestRestore goes back to a snapshot, more than once and from another engine.
func TestRestore(t *testing.T) {
	e := Open(enginetest.Union)
	empty := e.Snapshot()
	commit(t, e, put("a", "1"), put("b", "1"))
	s := e.Snapshot()
	for range 2 {
		commit(t, e, put("a", "2"), remove("b"), put("c", "2"))
		expect(t, "the engine", e, "a=2 c=2")
		err := e.View(func(r engine.Reader) error {
			if err := e.Restore(s); err != nil {
				return err
			}
			expect(t, "a view from before", r, "a=2 c=2")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, "the restored engine", e, "a=1 b=1")
	}
	f := Open(enginetest.Union)
	if err := f.Restore(s); err != nil {
		t.Fatal(err)
	}
	commit(t, f, put("a", "3"))
	expect(t, "another engine", f, "a=3 b=1")
	if err := e.Restore(empty); err != nil {
		t.Fatal(err)
	}
	expect(t, "the emptied engine", e, "")
	expect(t, "another engine", f, "a=3 b=1")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Restore(s); err == nil {
		t.Error("a closed engine can be restored")
	}
}

// TestForksCostNothing makes forks and snapshots of 100,000 rows, in less time than looking at 1,000 of them takes.
func TestForksCostNothing(t *testing.T) {
	const n = 100_000
	e := Open(enginetest.Union)
	fill(t, e, n, []byte("value"), same)
	took := func(fn func()) time.Duration {
		var all []time.Duration
		for range 15 {
			began := time.Now()
			fn()
			all = append(all, time.Since(began))
		}
		return slices.Min(all)
	}
	fork := took(func() { e.Fork() })
	s := e.Snapshot()
	restore := took(func() {
		if err := e.Restore(s); err != nil {
			t.Error(err)
		}
	})
	write := took(func() { commit(t, e.Fork(), put("a", "1")) })
	t.Logf("a fork takes %v, restoring %v, a fork and the first write to it %v", fork, restore, write)
	for _, d := range []time.Duration{fork, restore, write} {
		if d > 300*time.Microsecond {
			t.Errorf("%v for %d rows", d, n)
		}
	}
	if allocs := testing.AllocsPerRun(10, func() { e.Fork() }); allocs > 8 {
		t.Errorf("a fork allocates %v times", allocs)
	}
}

// TestRestoreUnderReads restores two states in turn while others read and write: each read sees one state, with the
// number in all of its rows.
func TestRestoreUnderReads(t *testing.T) {
	e := Open(enginetest.Union)
	var states []engine.Snapshot
	for state := range 2 {
		value := []byte(fmt.Sprint(state))
		fill(t, e, 500, value, same)
		states = append(states, e.Snapshot())
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for i := range 3 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				seen := map[string]int{}
				err := e.Scan(nil, nil, engine.ScanOptions{Reverse: i == 1}, func(_, v []byte) (bool, error) {
					seen[string(v)]++
					return true, nil
				})
				for v, n := range seen {
					if err != nil || len(seen) > 1 || n != 500 {
						t.Errorf("%d rows with %s, error %v", n, v, err)
						return
					}
				}
			}
		})
	}
	for i := range 300 {
		if err := e.Restore(states[i%2]); err != nil {
			t.Error(err)
		}
		var ops []engine.Op
		for n := range 500 {
			ops = append(ops, engine.Op{Key: numbered(n), Value: fmt.Append(nil, "written ", i)})
		}
		commit(t, e, ops...)
	}
	close(stop)
	readers.Wait()
}

// TestUpdateAcrossRestore restores a snapshot while an update is under way: the update runs again, on what there is
// then, also where it writes another key than it has read.
func TestUpdateAcrossRestore(t *testing.T) {
	e := Open(enginetest.Union)
	defer e.Close()
	put := func(key, value string) {
		e.Commit([]engine.Op{{Kind: engine.Put, Key: []byte(key), Value: []byte(value)}}, func(err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	put("k", "old")
	s := e.Snapshot()
	put("k", "new")
	var seen []string
	err := engine.Update(t.Context(), e, []byte("k"), func(txn engine.Txn) error {
		_, err := txn.Get([]byte("k"), func(value []byte) error {
			seen = append(seen, string(value))
			txn.Put([]byte("copy"), value)
			return nil
		})
		if len(seen) == 1 {
			err = errors.Join(err, e.Restore(s))
		}
		return err
	})
	if err != nil || !slices.Equal(seen, []string{"new", "old"}) {
		t.Errorf("%v, %v", seen, err)
	}
}
