package badger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// fillTables flushes four megabytes of each table, with a few long values.
func fillTables(t testing.TB, e *Engine, last uint64, tables ...string) {
	t.Helper()
	fillRows(t, e, last, 400, tables...)
}

// fillRows flushes so many rows of each table.
func fillRows(t testing.TB, e *Engine, last uint64, rows int, tables ...string) {
	t.Helper()
	flushing(t, e, last, func(f *Flush) (err error) {
		for _, table := range tables {
			for i := range rows {
				size := 10_000
				if i%100 == 50 {
					size = 250_000
				}
				err = errors.Join(err, f.Put(fmt.Appendf(nil, "%s %05d", table, i), bytes.Repeat([]byte{byte(i)}, size)))
			}
		}
		return err
	})
}

// rowsOf counts the rows of each table, all of which can be read.
func rowsOf(t testing.TB, e *Engine) map[string]int {
	t.Helper()
	all := map[string]int{}
	for key := range content(t, e, engine.ScanOptions{}) {
		table, _, _ := strings.Cut(key, " ")
		all[table]++
	}
	return all
}

// bytesOf is how much is in tables.
func bytesOf(e *Engine) (n int64) {
	for _, table := range e.db.Tables() {
		n += int64(table.OnDiskSize)
	}
	return n
}

func prefixesOf(tables ...string) (all [][]byte) {
	for _, table := range tables {
		all = append(all, []byte(table+" "))
	}
	return all
}

// TestDrop drops the rows of two tables of four: the others stay, and the space is free without a compaction of what is
// left. Nothing is back when the folder is opened again.
func TestDrop(t *testing.T) {
	o := small(t, folderForTest(t))
	o.Eager = true
	e := open(t, o)
	for last := range uint64(2) { // older versions below newer ones
		fillTables(t, e, 1+last, "a", "b", "c", "d")
	}
	before := bytesOf(e)
	if err := e.Drop(t.Context(), prefixesOf("b", "c")); err != nil {
		t.Fatal(err)
	}
	want := "map[a:400 d:400]"
	if got := fmt.Sprint(rowsOf(t, e)); got != want {
		t.Errorf("dropped, the tables have %s", got)
	}
	if after := bytesOf(e); after > before*6/10 {
		t.Errorf("tables have %d bytes of %d, although half of the rows are dropped", after, before)
	}
	own := 0
	txn := e.db.NewTransactionAt(e.version.Load(), false)
	it := txn.NewIterator(iteratorOf(longPrefix))
	for it.Rewind(); it.Valid(); it.Next() {
		own++
	}
	it.Close()
	if own != 8 || len(e.long.generations) != 8 {
		t.Errorf("%d long values are left, and %d are known, want 8", own, len(e.long.generations))
	}
	fillTables(t, e, 3, "e")
	e = reopen(t, e)
	if got := fmt.Sprint(rowsOf(t, e)); got != "map[a:400 d:400 e:400]" || e.Flushed() != 3 {
		t.Errorf("opened again, the tables have %s up to commit %d", got, e.Flushed())
	}
	if err := e.Close(nil); err != nil {
		t.Fatal(err)
	}
}

// TestDropIsWorthIt drops little: that would cost more than to delete it, unless space is short. Where there is no room
// for what a drop writes, nothing is dropped.
func TestDropIsWorthIt(t *testing.T) {
	free := int64(1 << 40)
	o := small(t, folderForTest(t))
	o.Free = func(string) (int64, error) { return free, nil }
	o.Volume = func(string) (int64, error) { return 1 << 40, nil }
	o.still = true
	e := open(t, o)
	fillTables(t, e, 1, "a", "b")
	fillRows(t, e, 2, 800, "c")
	fillRows(t, e, 3, 4000, "d")
	for e.db.Levels()[0].NumTables > 1 {
		_ = patient(nil)
	}
	e.finishWatching(t)
	drop := func(table, want string) {
		t.Helper()
		e.checkSpace()
		err := e.Drop(t.Context(), prefixesOf(table))
		if free == 0 && !errors.Is(err, engine.ErrFull) || free > 0 && err != nil {
			t.Errorf("dropping %s: %v", table, err)
		}
		if got := fmt.Sprint(rowsOf(t, e)); got != want {
			t.Errorf("dropped %s, the tables have %s, want %s", table, got, want)
		}
	}
	drop("a", "map[a:400 b:400 c:800 d:4000]")
	drop("d", "map[a:400 b:400 c:800]")
	free = 0
	drop("c", "map[a:400 b:400 c:800]")
	free = 24 << 20
	drop("c", "map[a:400 b:400]")
	drop("x", "map[a:400 b:400]")
}

// finishWatching ends the watch over the space and the engine's other goroutines, for a test that sets the space.
func (e *Engine) finishWatching(t *testing.T) {
	close(e.stop)
	e.finished.Wait()
	t.Cleanup(func() {
		if err := e.db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestDropDuringFlush drops tables between the transactions of a flush, whose other rows are all there afterwards, and
// level zero stays small. What the flush writes of dropped tables has all its chunks.
func TestDropDuringFlush(t *testing.T) {
	o := small(t, folderForTest(t))
	o.Eager = true
	e := open(t, o)
	fillTables(t, e, 1, "a", "b", "c")
	for last := uint64(2); last < 6; last++ {
		flushing(t, e, last, func(f *Flush) (err error) {
			for _, table := range []string{"a", "b", "c"} {
				for i := range 400 {
					size := 10_000
					if i%20 == 5 {
						size = 150_000
					}
					err = errors.Join(err, f.Put(fmt.Appendf(nil, "%s %05d", table, i), bytes.Repeat([]byte{byte(last)}, size)))
					if i%50 == 49 {
						err = errors.Join(err, e.Drop(t.Context(), prefixesOf("b")))
					}
					if n := e.db.Levels()[0].NumTables; n > maxLevelZero {
						t.Errorf("level zero has %d tables", n)
					}
				}
			}
			return err
		})
		if all := rowsOf(t, e); all["a"] != 400 || all["c"] != 400 {
			t.Errorf("after the flush the tables have %v", all)
		}
		if last == 3 {
			e = reopen(t, e)
		}
	}
	if err := e.Drop(t.Context(), prefixesOf("b")); err != nil {
		t.Fatal(err)
	}
	e = reopen(t, e)
	if all := fmt.Sprint(rowsOf(t, e)); all != "map[a:400 c:400]" {
		t.Errorf("dropped, the tables have %s", all)
	}
	if err := e.Close(nil); err != nil {
		t.Fatal(err)
	}
}

// TestKilledDuringDrop copies the folder while tables are dropped, as a kill leaves it: it opens, all other rows are
// there, and the rest is dropped when that is asked for again.
func TestKilledDuringDrop(t *testing.T) {
	o := small(t, folderForTest(t))
	o.Eager = true
	e := open(t, o)
	for last := range uint64(3) {
		fillTables(t, e, 1+last, "a", "b", "c", "d")
	}
	done := make(chan error, 1)
	go func() { done <- e.Drop(context.Background(), prefixesOf("b", "d")) }()
	copies := 0
	for running := true; running; copies++ {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		left := o
		left.Dir = folderForTest(t)
		enginetest.CopyFolder(t, e.o.Dir, left.Dir)
		again := open(t, left)
		if all := rowsOf(t, again); all["a"] != 400 || all["c"] != 400 || again.Flushed() != 3 {
			t.Errorf("killed, the tables have %v", all)
		}
		if err := again.Drop(t.Context(), prefixesOf("b", "d")); err != nil {
			t.Fatal(err)
		}
		if all := fmt.Sprint(rowsOf(t, again)); all != "map[a:400 c:400]" {
			t.Errorf("killed and dropped again, the tables have %v", all)
		}
		if err := again.Close(nil); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d copies", copies)
	if err := e.Close(nil); err != nil {
		t.Fatal(err)
	}
}

// TestCloseDuringCompaction closes an engine while all its tables are compacted, again and again: it does not wait for
// that beyond its deadline. The folder opens as after a kill, with all rows.
func TestCloseDuringCompaction(t *testing.T) {
	o := small(t, folderForTest(t))
	e := open(t, o)
	for last := range uint64(3) {
		fillTables(t, e, 1+last, "a", "b", "c")
	}
	for round := range 3 {
		ended := make(chan struct{})
		e.finished.Go(func() { // as the watch over the disk does
			for {
				select {
				case <-ended:
					return
				default:
					if err := e.Compact(); err != nil && !IsBehind(err) {
						t.Error(err)
						return
					}
				}
			}
		})
		late := make(chan time.Time)
		close(late)
		closed := make(chan error, 1)
		go func() { closed <- e.Close(late) }()
		select {
		case err := <-closed:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(20 * time.Second):
			t.Error("the engine waits for compactions")
		}
		close(ended) // the compaction under way goes on, but no other begins, so that the folder can be copied
		left := o
		left.Dir = folderForTest(t)
		enginetest.CopyFolder(t, e.o.Dir, left.Dir)
		e.finished.Wait()
		_ = e.db.Close()
		if e = open(t, left); fmt.Sprint(rowsOf(t, e)) != "map[a:400 b:400 c:400]" || e.Flushed() != 3 {
			t.Errorf("round %d: the tables have %v up to commit %d", round, rowsOf(t, e), e.Flushed())
		}
	}
	if err := e.Close(nil); err != nil {
		t.Fatal(err)
	}
}
