package disk

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// disk is a disk whose free bytes a test sets.
type disk struct{ free atomic.Int64 }

func (d *disk) options(t *testing.T) Options {
	d.free.Store(1 << 40)
	o := tiny(t, folder(t), Periodic)
	o.below.Free = func(string) (int64, error) { return d.free.Load(), nil }
	o.below.Volume = func(string) (int64, error) { return 1 << 40, nil }
	o.Reserve.Bytes = 1 << 30
	return o
}

// until waits for a condition.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waiting until %s takes too long", what)
		}
	}
}

// TestFullDisk fills a disk up to its reserve. Writes are refused, and those that free space are taken, until there is
// too little room for a flush. What was acknowledged is there at the end.
func TestFullDisk(t *testing.T) {
	var d disk
	e := open(t, d.options(t))
	for i := range 300 {
		must(t, e, engine.Put, fmt.Sprintf("row %03d", i), "a value")
	}
	d.free.Store(500 << 20)
	until(t, "writes are refused", func() bool { return e.Refusing() != nil })
	write := engine.Op{Kind: engine.Merge, Key: []byte("row 000"), Value: []byte("w")}
	if err := commit(e, write); !errors.Is(err, engine.ErrFull) {
		t.Errorf("a write: %v", err)
	}
	outcome := make(chan error, 1)
	e.CommitFreeing([]engine.Op{write}, func(err error) { outcome <- err })
	if err := <-outcome; err != nil {
		t.Errorf("a write that frees space: %v", err)
	}
	if err := engine.Update(engine.WithFreeing(t.Context()), e, []byte("g"), func(txn engine.Txn) error {
		txn.Delete([]byte("row 001"))
		return nil
	}); err != nil {
		t.Errorf("an update that frees space: %v", err)
	}
	if err := engine.Update(t.Context(), e, []byte("g"), func(txn engine.Txn) error {
		txn.Put([]byte("row 001"), []byte("again"))
		return nil
	}); !errors.Is(err, engine.ErrFull) {
		t.Errorf("an update: %v", err)
	}
	if err := e.DeleteRange([]byte("row 100"), []byte("row 200")); err != nil {
		t.Errorf("a range is deleted: %v", err)
	}
	flush(e)
	d.free.Store(0)
	e.CommitFreeing([]engine.Op{write}, func(err error) { outcome <- err })
	if err := <-outcome; err != nil {
		t.Errorf("there is no room at all but in the log, and a write that frees space: %v", err)
	}
	d.free.Store(1 << 40)
	until(t, "writes are taken", func() bool { return e.Refusing() == nil })
	must(t, e, engine.Put, "row 300", "v")

	// A flush that has found no room goes on by itself.
	d.free.Store(0)
	e.FlushSoon()
	until(t, "the flush waits", func() bool { return e.stuck.Load() != nil })
	d.free.Store(1 << 40)
	until(t, "writes are taken after the flush", func() bool { return e.Refusing() == nil })
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, e.o)
	defer e.Close()
	for i := range 301 {
		if found, want := has(t, e, fmt.Sprintf("row %03d", i)), i != 1 && (i < 100 || i >= 200); found != want {
			t.Errorf("row %d is there: %t", i, found)
		}
	}
}

// TestCloseOnFullDisk closes an engine whose disk is full: it waits for nothing, and the log has what was not flushed.
func TestCloseOnFullDisk(t *testing.T) {
	var d disk
	e := open(t, d.options(t))
	for i := range 300 {
		must(t, e, engine.Put, fmt.Sprintf("row %03d", i), "a value of some bytes")
	}
	d.free.Store(0)
	until(t, "writes are refused", func() bool { return e.Refusing() != nil })
	e.FlushSoon()
	closed := make(chan error, 1)
	go func() { closed <- e.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the engine does not close")
	}
	d.free.Store(1 << 40)
	e = open(t, e.o)
	defer e.Close()
	for i := range 300 {
		if !has(t, e, fmt.Sprintf("row %03d", i)) {
			t.Errorf("row %d is lost", i)
		}
	}
}

// TestCloseBy closes an engine that has no time left: nothing is flushed, and nothing is lost.
func TestCloseBy(t *testing.T) {
	e := open(t, tiny(t, folder(t), Periodic))
	for i := range 2000 {
		must(t, e, engine.Put, fmt.Sprintf("row %04d", i), "a value of some bytes")
	}
	e.CloseBy(time.Now())
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e.o.Dir = copyFolder(t, e.o.Dir) // which may be closing still
	e = open(t, e.o)
	defer e.Close()
	for i := range 2000 {
		if !has(t, e, fmt.Sprintf("row %04d", i)) {
			t.Fatalf("row %d is lost", i)
		}
	}
}
