package enginetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
)

// callbacks reads and commits while a scan is under way, which shows the state when it began.
func callbacks(t *testing.T, e engine.Engine) {
	must(t, commit(e, put("a", "1"), put("b", "1"), put("c", "1"), put("d", "1")))
	for _, reverse := range []bool{false, true} {
		seen := ""
		must(t, e.View(func(r engine.Reader) error {
			return r.Scan(nil, nil, engine.ScanOptions{Reverse: reverse}, func(k, v []byte) (bool, error) {
				must(t, commit(e, put("a", "2"), del("b"), put("bb", "2"), merge("c", "2"), put("d", "2")))
				expect(t, "scan in a scan", dump(t, r, "b", "d", engine.ScanOptions{}), "b=1 c=1")
				expect(t, "get in a scan", value(t, r, "d"), "1")
				seen += string(k) + string(v)
				return true, nil
			})
		}))
		expect(t, "scan", seen, map[bool]string{false: "a1b1c1d1", true: "d1c1b1a1"}[reverse])
		expect(t, "after", dump(t, e, "", "", engine.ScanOptions{}), "a=2 bb=2 c=1 2 d=2")
		must(t, commit(e, put("a", "1"), put("b", "1"), del("bb"), put("c", "1"), put("d", "1")))
	}
	must(t, update(e, "g", func(txn engine.Txn) error {
		txn.Put([]byte("bb"), []byte("3"))
		return txn.Scan([]byte("b"), nil, engine.ScanOptions{}, func(k, _ []byte) (bool, error) {
			expect(t, "scan in an update's scan", dump(t, txn, "b", "c", engine.ScanOptions{Reverse: true}), "bb=3 b=1")
			txn.Delete([]byte("a"))
			return true, nil
		})
	}))
	expect(t, "updated", dump(t, e, "", "c", engine.ScanOptions{}), "b=1 bb=3")
}

// updatesPanic panics in an update, while others wait for its guard: it fails with the panic, the others do not, and
// its writes are gone. Close returns, so nothing is held.
func updatesPanic(t *testing.T, e engine.Engine) {
	must(t, commit(e, put("a", "1")))
	var others sync.WaitGroup
	err := update(e, "g", func(txn engine.Txn) error {
		for i := range 3 {
			others.Go(func() {
				if err := update(e, "g", func(txn engine.Txn) error {
					txn.Put(fmt.Append(nil, "other ", i), []byte("1"))
					return nil
				}); err != nil {
					t.Errorf("an update that waited: %v", err)
				}
			})
		}
		txn.Put([]byte("a"), []byte("2"))
		return txn.Scan(nil, nil, engine.ScanOptions{}, func(_, _ []byte) (bool, error) { panic("planted") })
	})
	if !panics.Is(err) {
		t.Errorf("the error is %v", err)
	}
	others.Wait()
	must(t, update(e, "g", func(txn engine.Txn) error {
		txn.Merge([]byte("a"), []byte("3"))
		return nil
	}))
	expect(t, "after", dump(t, e, "", "", engine.ScanOptions{}), "a=1 3 other 0=1 other 1=1 other 2=1")
}

// foldsPanic merges a delta that panics: the commit fails and nothing of it is applied, or reads of the key fail. The
// key can be written again. An engine that flushes may take no more commits, because it must not lose the delta.
func foldsPanic(t *testing.T, e engine.Engine, flushes bool) {
	must(t, commit(e, put("a", "1"), put("b", "1")))
	err := commit(e, merge("b", "2"), merge("a", "panic"))
	want := "1"
	if err == nil {
		want = "1 2"
		_, err = e.Get([]byte("a"), func([]byte) error { return nil })
	}
	if !panics.Is(err) {
		t.Errorf("the error is %v", err)
	}
	expect(t, "the other key", value(t, e, "b"), want)
	err = commit(e, put("a", "2"), merge("b", "3"))
	if err == nil {
		err = update(e, "g", func(txn engine.Txn) error {
			txn.Merge([]byte("a"), []byte("3"))
			return nil
		})
	}
	if flushes && errors.Is(err, engine.ErrRefused) {
		return
	}
	must(t, err)
	expect(t, "written again", value(t, e, "a"), "2 3")
}

// foldsFail merges into a value that cannot be folded: either the commit fails and nothing of it is applied, or reads
// fail. An engine that flushes may have dropped the delta before the read.
func foldsFail(t *testing.T, e engine.Engine, flushes bool) {
	must(t, commit(e, put("bad", "damaged"), put("good", "1")))
	expect(t, "bad", value(t, e, "bad"), "damaged")
	err := commit(e, merge("good", "2"), merge("bad", "2"))
	want := "1"
	held := ""
	if err == nil {
		want = "1 2"
		_, err = e.Get([]byte("bad"), func(value []byte) error {
			held = string(value)
			return nil
		})
	}
	expect(t, "good", value(t, e, "good"), want)
	leftOut := flushes && err == nil && held == "damaged"
	if !errors.Is(err, errDamaged) && !leftOut {
		t.Errorf("the error is %v, and the key holds %q", err, held)
	}
	err = update(e, "g", func(txn engine.Txn) error {
		txn.Merge([]byte("bad"), []byte("3"))
		return nil
	})
	if err != nil && !errors.Is(err, errDamaged) {
		t.Errorf("the error of an update is %v", err)
	}
	must(t, commit(e, put("bad", "3"), merge("good", "3")))
	must(t, commit(e, merge("bad", "4")))
	expect(t, "mended", value(t, e, "bad"), "3 4")
}

// updatesDoNotUndo rewrites a key by updates while others merge words into it: none may be lost.
func updatesDoNotUndo(t *testing.T, e engine.Engine) {
	const words = 200
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, guard := range []string{"one", "two"} {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				err := update(e, guard, func(txn engine.Txn) error {
					_, err := txn.Get([]byte("k"), func(v []byte) error {
						txn.Put([]byte("k"), v)
						return nil
					})
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	want := ""
	for i := range words {
		word := fmt.Sprintf("w%03d", i)
		must(t, commit(e, merge("k", word)))
		want += " " + word
	}
	close(stop)
	wg.Wait()
	expect(t, "k", value(t, e, "k"), want[1:])
}

// updatesRunAgain checks that of an update that writes something else each time only the last counts.
func updatesRunAgain(t *testing.T, e engine.Engine) {
	for range 20 {
		runs := 0
		must(t, update(e, "g", func(txn engine.Txn) error {
			runs++
			txn.Put(fmt.Append(nil, "run ", runs), []byte("1"))
			return nil
		}))
		expect(t, "keys", dump(t, e, "", "", engine.ScanOptions{}), fmt.Sprintf("run %d=1", runs))
		must(t, commit(e, del(fmt.Sprint("run ", runs))))
	}
}

// argumentsAreFree changes the arguments of an update and, when it is done, of a commit.
func argumentsAreFree(t *testing.T, e engine.Engine) {
	buf := []byte("a1")
	must(t, update(e, "g", func(txn engine.Txn) error {
		for i := range 3 {
			buf[0], buf[1] = 'a'+byte(i), '1'
			txn.Put(buf[:1], buf[1:])
		}
		txn.Merge(buf[:1], []byte("2"))
		buf[0] = 'b'
		txn.Delete(buf[:1])
		buf[0], buf[1] = 'x', 'x'
		return nil
	}))
	expect(t, "update", dump(t, e, "", "", engine.ScanOptions{}), "a=1 c=1 2")
	for i := range 3 {
		buf[0], buf[1] = 'k'+byte(i), '1'
		must(t, commit(e, engine.Op{Kind: engine.Merge, Key: buf[:1], Value: buf[1:]}))
	}
	buf[0], buf[1] = 'x', 'x'
	expect(t, "commit", dump(t, e, "k", "", engine.ScanOptions{}), "k=1 l=1 m=1")
}
