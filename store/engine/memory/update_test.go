package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// TestUpdateRunsAgain commits to the key of an update while its function runs, so many times: the update runs the
// function again, and at last says that there is a conflict.
func TestUpdateRunsAgain(t *testing.T) {
	for times, conflicts := range map[int]bool{0: false, 1: false, attempts - 1: false, attempts: true} {
		e := Open(enginetest.Union)
		runs := 0
		err := engine.Update(context.Background(), e, nil, func(txn engine.Txn) error {
			runs++
			seen := dump(t, txn)
			if runs <= times {
				commit(t, e, put("a", fmt.Sprint(runs)))
			}
			txn.Put([]byte("a"), []byte("update"))
			txn.Put([]byte("seen"), []byte("("+seen+")"))
			return nil
		})
		want := fmt.Sprintf("a=update seen=(a=%d)", times)
		switch {
		case conflicts:
			want = fmt.Sprintf("a=%d", times)
		case times == 0:
			want = "a=update seen=()"
		}
		expect(t, fmt.Sprint("after ", times, " conflicts the engine"), e, want)
		if errors.Is(err, engine.ErrConflict) != conflicts || err != nil && !conflicts || runs != min(times+1, attempts) {
			t.Errorf("%d conflicts: %d runs, %v", times, runs, err)
		}
	}
}

// TestUpdateHoldsUpNobody reads and commits while an update's function runs. What the update only merges into is no
// conflict.
func TestUpdateHoldsUpNobody(t *testing.T) {
	e := Open(enginetest.Union)
	commit(t, e, put("a", "1"))
	err := engine.Update(context.Background(), e, nil, func(txn engine.Txn) error {
		txn.Merge([]byte("a"), []byte("3"))
		commit(t, e, engine.Op{Kind: engine.Merge, Key: []byte("a"), Value: []byte("2")}, put("b", "1"))
		expect(t, "the engine meanwhile", e, "a=1 2 b=1")
		expect(t, "the update", txn, "a=1 3")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	expect(t, "the engine", e, "a=1 2 3 b=1")
}

// TestUpdateWaits ends the waiting for another update by its context.
func TestUpdateWaits(t *testing.T) {
	e := Open(enginetest.Union)
	err := engine.Update(context.Background(), e, nil, func(engine.Txn) error {
		ctx, cancel := context.WithCancel(context.Background())
		waits := make(chan error)
		go func() {
			waits <- engine.Update(ctx, e, nil, func(engine.Txn) error { return errors.New("two updates at a time") })
		}()
		cancel()
		if err := <-waits; !errors.Is(err, context.Canceled) {
			t.Errorf("waiting ended with %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestCloseWaitsForUpdates closes while an update is under way: it is done before Close returns.
func TestCloseWaitsForUpdates(t *testing.T) {
	e := Open(enginetest.Union)
	closed := make(chan error, 1)
	err := engine.Update(context.Background(), e, nil, func(txn engine.Txn) error {
		go func() { closed <- e.Close() }()
		for e.Sync() == nil { // until Close has begun
			continue
		}
		txn.Put([]byte("a"), []byte("1"))
		expect(t, "the update", txn, "a=1")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	expect(t, "a fork of the closed engine", e.Fork(), "a=1")
}

// TestCloseWaitsForOldViews has views under way that began before commits of all kinds: a closed engine waits for
// each.
func TestCloseWaitsForOldViews(t *testing.T) {
	var long []engine.Op
	for i := range slowOps + 1 {
		long = append(long, engine.Op{Key: numbered(i), Value: []byte("1")})
	}
	for name, change := range map[string]func(e *Engine){
		"nothing":        func(*Engine) {},
		"a commit":       func(e *Engine) { commit(t, e, put("a", "1")) },
		"a long commit":  func(e *Engine) { commit(t, e, long...) },
		"several":        func(e *Engine) { commit(t, e, long...); commit(t, e, put("a", "1")); commit(t, e, long...) },
		"a range delete": func(e *Engine) { commit(t, e, long...); _ = e.DeleteRange(nil, nil) },
		"restoring":      func(e *Engine) { _ = e.Restore(e.Snapshot()) },
	} {
		e := Open(enginetest.Union)
		closed := make(chan error, 1)
		err := e.View(func(r engine.Reader) error {
			change(e)
			go func() { closed <- e.Close() }()
			for e.Sync() == nil { // until Close has begun
				continue
			}
			if !e.busy() {
				t.Errorf("%s: a closed engine does not wait for a view", name)
			}
			expect(t, name+": the view", r, "")
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
	}
}

// TestLateReader comes to a tree that is not published any more: it has to take another.
func TestLateReader(t *testing.T) {
	e := Open(enginetest.Union)
	late := e.current.Load()
	err := e.View(func(engine.Reader) error {
		commit(t, e, put("a", "1"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if e.enterAt(late) || late.isRead() {
		t.Error("an old tree can be read")
	}
	commit(t, e, put("b", "1"))
	if !e.enterAt(e.current.Load()) {
		t.Error("the last tree cannot be read")
	}
}

// TestReadersAndWriters has many read, write, fork and restore at once. Each commit writes one number to all of a
// group of keys.
func TestReadersAndWriters(t *testing.T) {
	const groups, size, rounds = 4, 40, 400
	e := Open(enginetest.Union)
	key := func(group, i int) []byte { return fmt.Appendf(nil, "group %d key %d", group, i) }
	write := func(e *Engine, group, number int) {
		var ops []engine.Op
		for i := range size {
			ops = append(ops, engine.Op{Key: key(group, i), Value: fmt.Append(nil, number)})
		}
		commit(t, e, ops...)
	}
	check := func(what string, r engine.Reader, group int, reverse bool) {
		seen, n := map[string]bool{}, 0
		start, end := fmt.Appendf(nil, "group %d", group), fmt.Appendf(nil, "group %d", group+1)
		err := r.Scan(start, end, engine.ScanOptions{Reverse: reverse}, func(_, v []byte) (bool, error) {
			seen[string(v)] = true
			n++
			return true, nil
		})
		if err != nil || len(seen) != 1 || n != size {
			t.Errorf("%s: %d keys have the values %v, error %v", what, n, seen, err)
		}
	}
	for g := range groups {
		write(e, g, 0)
	}
	var writers, others sync.WaitGroup
	var stop atomic.Bool
	for g := range groups {
		writers.Go(func() {
			for i := range rounds {
				write(e, g, i)
				check("what was just written", e, g, i%2 == 0)
			}
		})
		others.Go(func() {
			for i := 0; !stop.Load(); i++ {
				switch i % 3 {
				case 0:
					check("a scan", e, g, g == 1)
				case 1:
					err := e.View(func(r engine.Reader) error {
						check("a view", r, g, false)
						check("a view later", r, (g+1)%groups, true)
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				case 2:
					f := e.Fork()
					write(f, g, -1)
					check("a fork", f, g, false)
					check("a fork", f, (g+1)%groups, false)
				}
			}
		})
	}
	writers.Wait()
	stop.Store(true)
	others.Wait()
	checkTree(t, &e.Memtable.tree)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
