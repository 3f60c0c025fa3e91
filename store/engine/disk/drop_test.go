package disk

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// TestDropBesideFlush drops long values while a flush folds deltas into others: it never finds a part of one.
func TestDropBesideFlush(t *testing.T) {
	o := tiny(t, folder(t), Periodic)
	o.Memtable, o.below.MemTable, o.below.Eager = 64<<20, 1<<20, true
	folding := make(chan struct{}, 1)
	e, err := Open(o, func(dst, key, existing, delta []byte) ([]byte, error) {
		wake(folding)
		return appending(dst, key, existing, delta)
	})
	if err != nil {
		t.Fatal(err)
	}
	const keys = 6
	long := bytes.Repeat([]byte("l"), 900_000)
	for round := range 3 {
		key := func(i int) string { return fmt.Sprintf("%04d %03d", round, i) }
		for i := range keys {
			must(t, e, engine.Put, key(i), string(long))
		}
		flush(e)
		for i := range keys {
			must(t, e, engine.Merge, key(i), "delta")
		}
		flushes := e.flushes.Load()
		e.FlushSoon()
		<-folding
		if err := e.Drop(t.Context(), [][]byte{fmt.Appendf(nil, "%04d ", round)}); err != nil {
			t.Fatal(err)
		}
		for e.flushes.Load() == flushes && e.Damage() == nil {
			time.Sleep(time.Millisecond)
		}
		if err := e.Damage(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-folding:
		default:
		}
		if err := e.DeleteRange(fmt.Appendf(nil, "%04d ", round), fmt.Appendf(nil, "%04d!", round)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(keysOf(t, e)); n > 0 {
		t.Errorf("%d keys are left", n)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
