package enginetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// commitsAreAtomic writes the same number to many keys in each commit; readers must never see two numbers, nor one
// that is older than that of a commit that was done before they began.
func commitsAreAtomic(t *testing.T, e engine.Engine) {
	const rounds = 300
	var committed atomic.Int64
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				least := committed.Load()
				seen := map[string]bool{}
				err := e.View(func(r engine.Reader) error {
					return r.Scan([]byte("k"), []byte("l"), engine.ScanOptions{}, func(_, v []byte) (bool, error) {
						seen[string(v)] = true
						return true, nil
					})
				})
				if err != nil || len(seen) > 1 {
					t.Errorf("a view sees %v, error %v", seen, err)
					return
				}
				for v := range seen {
					if n, _ := strconv.ParseInt(v, 10, 64); n < least {
						t.Errorf("a view sees %d after %d was committed", n, least)
					}
				}
			}
		})
	}
	for i := 1; i <= rounds; i++ {
		v := strconv.Itoa(i)
		must(t, commit(e, put("k1", v), put("k2", v), put("k3", v), put("k4", v)))
		committed.Store(int64(i))
	}
	close(stop)
	wg.Wait()
}

// viewsDoNotChange overwrites much more than an engine keeps in memory while a view is open.
func viewsDoNotChange(t *testing.T, e engine.Engine) {
	must(t, commit(e, put("a", "old"), put("b", "old"), put("c", "old")))
	filler := strings.Repeat("f", 30<<10)
	must(t, e.View(func(r engine.Reader) error {
		for i := range 1000 {
			v := fmt.Sprint("new ", i)
			must(t, commit(e, put("a", v), del("b"), put("c", v), put("d", filler)))
		}
		expect(t, "view", dump(t, r, "", "", engine.ScanOptions{}), "a=old b=old c=old")
		expect(t, "view", value(t, r, "b"), "old")
		return nil
	}))
	expect(t, "after", dump(t, e, "a", "d", engine.ScanOptions{}), "a=new 999 c=new 999")
}

// mergesInAnyOrder merges words into a few keys from several goroutines; none may be lost.
func mergesInAnyOrder(t *testing.T, e engine.Engine) {
	const workers, each, keys = 8, 40, 3
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				var done sync.WaitGroup
				for k := range keys {
					done.Add(1)
					e.Commit([]engine.Op{merge(fmt.Sprint("k", k), fmt.Sprintf("w%d.%d", w, i))}, func(err error) {
						if err != nil {
							t.Error(err)
						}
						done.Done()
					})
				}
				done.Wait()
			}
		})
	}
	wg.Wait()
	for k := range keys {
		if n := len(strings.Fields(value(t, e, fmt.Sprint("k", k)))); n != workers*each {
			t.Errorf("k%d has %d words, want %d", k, n, workers*each)
		}
	}
}

func updatesSeeTheirWrites(t *testing.T, e engine.Engine) {
	must(t, commit(e, put("a", "1"), put("c", "3"), put("e", "5")))
	must(t, update(e, "g", func(txn engine.Txn) error {
		txn.Put([]byte("b"), []byte("2"))
		txn.Delete([]byte("c"))
		txn.Merge([]byte("e"), []byte("6"))
		txn.Merge([]byte("f"), []byte("7"))
		txn.Put([]byte("x"), []byte("1"))
		txn.Delete([]byte("x"))
		expect(t, "forward", dump(t, txn, "", "", engine.ScanOptions{}), "a=1 b=2 e=5 6 f=7")
		expect(t, "reverse", dump(t, txn, "b", "f", engine.ScanOptions{Reverse: true}), "e=5 6 b=2")
		expect(t, "keys", dump(t, txn, "a", "c", engine.ScanOptions{KeysOnly: true}), "a b")
		expect(t, "e", value(t, txn, "e"), "5 6")
		expect(t, "c", value(t, txn, "c"), "")
		n := 0
		must(t, txn.Scan(nil, nil, engine.ScanOptions{}, func(_, _ []byte) (bool, error) {
			n++
			return n < 2, nil
		}))
		if n != 2 {
			t.Errorf("a stopped scan has %d keys, want 2", n)
		}
		return nil
	}))
	expect(t, "after", dump(t, e, "", "", engine.ScanOptions{}), "a=1 b=2 e=5 6 f=7")
}

// updatesTakeLoans writes operations that are not copied.
func updatesTakeLoans(t *testing.T, e engine.Engine) {
	lend := func(ops ...engine.Op) error {
		return update(e, "g", func(txn engine.Txn) error {
			engine.Lend(txn, ops)
			return nil
		})
	}
	must(t, commit(e, put("a", "1"), put("c", "3"), put("e", "5")))
	merge := engine.Op{Kind: engine.Merge, Key: []byte("a"), Value: []byte("2")}
	must(t, lend(put("b", "2"), engine.Op{Kind: engine.Delete, Key: []byte("c")}, merge))
	expect(t, "after", dump(t, e, "", "", engine.ScanOptions{}), "a=1 2 b=2 e=5")
	if err := lend(put("b", "3"), put("", "4")); err == nil {
		t.Error("an empty key is written")
	}
	expect(t, "after a refusal", value(t, e, "b"), "2")
}

func updatesFail(t *testing.T, e engine.Engine) {
	must(t, commit(e, put("a", "1")))
	broken := errors.New("broken")
	err := update(e, "g", func(txn engine.Txn) error {
		txn.Put([]byte("a"), []byte("2"))
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("update returns %v, want the function's error", err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	err = engine.Update(cancelled, e, []byte("g"), func(txn engine.Txn) error {
		txn.Put([]byte("a"), []byte("3"))
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled update returns %v", err)
	}
	expect(t, "after", dump(t, e, "", "", engine.ScanOptions{}), "a=1")
}

// updatesAreSerial counts under one guard and keeps two keys' sum at most one under another: a race
// would lose a count or let both keys be set.
func updatesAreSerial(t *testing.T, e engine.Engine) {
	const workers, each = 8, 30
	var wg sync.WaitGroup
	retry := func(guard string, fn func(engine.Txn) error) {
		if err := update(e, guard, fn); err != nil {
			t.Error(err)
		}
	}
	for w := range workers {
		wg.Go(func() {
			for range each {
				retry("count", func(txn engine.Txn) error {
					n, _ := strconv.Atoi(value(t, txn, "count"))
					txn.Put([]byte("count"), []byte(strconv.Itoa(n+1)))
					return nil
				})
			}
			retry("skew", func(txn engine.Txn) error {
				if value(t, txn, "left") == "" && value(t, txn, "right") == "" {
					txn.Put([]byte([]string{"left", "right"}[w%2]), []byte("1"))
				}
				return nil
			})
		})
	}
	wg.Wait()
	expect(t, "count", value(t, e, "count"), strconv.Itoa(workers*each))
	if value(t, e, "left") != "" && value(t, e, "right") != "" {
		t.Error("both keys were set by updates that saw neither")
	}
}

// closeWaits closes while commits and a view are under way: every commit is answered, and the view ends
// before the engine does.
func closeWaits(t *testing.T, e engine.Engine) {
	var sent, answered, viewed atomic.Int64
	started := make(chan struct{})
	go func() {
		err := e.View(func(r engine.Reader) error {
			close(started)
			time.Sleep(20 * time.Millisecond)
			_, err := r.Get([]byte("k1"), func([]byte) error { return nil })
			viewed.Add(1)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}()
	<-started
	for i := range 200 {
		sent.Add(1)
		e.Commit([]engine.Op{put(fmt.Sprint("k", i), "1")}, func(err error) {
			if err != nil {
				t.Error(err)
			}
			answered.Add(1)
		})
	}
	must(t, e.Close())
	if sent.Load() != answered.Load() || viewed.Load() != 1 {
		t.Errorf("closed after %d of %d commits and %d of 1 views", answered.Load(), sent.Load(), viewed.Load())
	}
}

// closeWaitsForUpdates closes while an update is being answered.
func closeWaitsForUpdates(t *testing.T, e engine.Engine) {
	begun := make(chan struct{})
	var answered atomic.Bool
	go e.Update(context.Background(), [][]byte{[]byte("g")}, func(engine.Txn) error { return nil }, func(error) {
		close(begun)
		time.Sleep(20 * time.Millisecond)
		answered.Store(true)
	})
	<-begun
	must(t, e.Close())
	if !answered.Load() {
		t.Error("closed before an update was answered")
	}
}
