package disk

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
)

// FlushSoon flushes what there is, far below the size at which a memtable is flushed, and nothing twice.
func TestFlushSoon(t *testing.T) {
	e := open(t, Options{Dir: folder(t), Log: zerolog.Nop()})
	defer e.Close()
	if err := commit(e, engine.Op{Kind: engine.Put, Key: []byte("k"), Value: []byte("v")}); err != nil {
		t.Fatal(err)
	}
	if n := e.flushes.Load(); n != 0 {
		t.Fatalf("%d flushes of one row", n)
	}
	for range 3 {
		e.FlushSoon()
		for e.flushes.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		if e.oldestFrozen() != nil || e.flushes.Load() != 1 {
			t.Fatal("what is in tables is flushed again")
		}
	}
	below := e.below.Snapshot()
	defer below.Release()
	found, err := below.Get([]byte("k"), func([]byte) error { return nil })
	if !found || err != nil {
		t.Errorf("in tables: %v, %v", found, err)
	}
}
