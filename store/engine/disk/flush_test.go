package disk

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
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
		if m, _ := e.nextFlush(); m != nil || e.flushes.Load() != 1 {
			t.Fatal("what is in tables is flushed again")
		}
	}
	below := e.badger.Snapshot()
	defer below.Release()
	found, err := below.Get([]byte("k"), func([]byte) error { return nil })
	if !found || err != nil {
		t.Errorf("in tables: %v, %v", found, err)
	}
}

// TestDeletedBeforeFlush merges into keys and deletes them before they are flushed: the tree has nothing of them then,
// so that a scan does not step over what is gone. Where a commit fails they are there as before. Keys that may be in
// tables leave a mark.
func TestDeletedBeforeFlush(t *testing.T) {
	o := tiny(t, folder(t), Periodic)
	o.Memtable, o.segment = 64<<20, 64<<20
	e := open(t, o)
	defer e.Close()
	do := func(kind engine.OpKind, keys ...string) (ops []engine.Op) {
		for _, key := range keys {
			op := engine.Op{Kind: kind, Key: []byte(key)}
			if kind != engine.Delete {
				op.Value = []byte("word")
			}
			ops = append(ops, op)
		}
		return ops
	}
	mustAll := func(ops []engine.Op) {
		t.Helper()
		if err := commit(e, ops...); err != nil {
			t.Fatal(err)
		}
	}
	rows := func() (n int) {
		_ = e.Memtable.Each(e.fold, func(engine.Op, error) error {
			n++
			return nil
		})
		return n
	}
	mustAll(do(engine.Merge, "queue 1", "queue 2", "queue 3"))
	mustAll(do(engine.Merge, "queue 2"))
	mustAll(do(engine.Put, "queue 3"))
	long := engine.Op{Kind: engine.Put, Key: []byte("long"), Value: bytes.Repeat([]byte("l"), memory.MaxCommit-10)}
	mustAll([]engine.Op{long})
	size, count := e.Memtable.Size, rows()
	failing := append(do(engine.Delete, "queue 1", "queue 2"), do(engine.Merge, "queue 1", "queue 4")...)
	failing = append(failing, do(engine.Delete, "queue 4", "queue 3")...)
	failing = append(failing, engine.Op{Kind: engine.Merge, Key: long.Key, Value: bytes.Repeat([]byte("m"), 100)})
	if err := commit(e, failing...); !errors.Is(err, engine.ErrTooLarge) {
		t.Fatal(err)
	}
	if e.Memtable.Size != size || rows() != count {
		t.Errorf("%d bytes in %d rows behind a commit that failed, %d in %d before", e.Memtable.Size, rows(), size, count)
	}
	for _, key := range []string{"queue 1", "queue 2", "queue 3"} {
		if found, err := e.Get([]byte(key), func([]byte) error { return nil }); !found || err != nil {
			t.Errorf("%s is lost by a commit that failed: %v", key, err)
		}
	}
	mustAll(do(engine.Delete, "queue 1", "queue 2", "queue 3"))
	mustAll(do(engine.Delete, "long"))
	if n := rows(); n != 1 {
		t.Errorf("%d rows of what is gone, want the mark of what was put", n)
	}

	mustAll(do(engine.Merge, "queue 5"))
	flush(e)
	mustAll(do(engine.Delete, "queue 5"))
	mustAll(do(engine.Merge, "queue 1"))
	mustAll(do(engine.Delete, "queue 1"))
	if n := rows(); n != 2 {
		t.Errorf("%d rows, want marks of one that is in tables and of one that may be", n)
	}
	for _, key := range []string{"queue 1", "queue 5"} {
		if found, err := e.Get([]byte(key), func([]byte) error { return nil }); found || err != nil {
			t.Errorf("%s is there again: %v", key, err)
		}
	}
}
