package disk

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
)

// TestGrowingValue merges short deltas into a long value while memtables are flushed. It is refused when the value is
// as long as may be, and nothing that was acknowledged is lost.
func TestGrowingValue(t *testing.T) {
	o := tiny(t, folder(t), Periodic)
	o.Memtable, o.segment, o.below.MemTable = 1<<20, 1<<20, 16<<20
	e := openAppending(t, o)
	key, want := []byte("k"), 13<<20
	commit := func(kind engine.OpKind, n int) (err error) {
		op := engine.Op{Kind: kind, Key: key, Value: bytes.Repeat([]byte{1}, n)}
		e.Commit([]engine.Op{op}, func(outcome error) { err = outcome })
		return err
	}
	if err := commit(engine.Put, want); err != nil {
		t.Fatal(err)
	}
	refused := false
	for range 60 {
		switch err := commit(engine.Merge, 500<<10); {
		case err == nil:
			want += 500 << 10
		case errors.Is(err, engine.ErrTooLarge):
			refused = true
		default:
			t.Fatal(err)
		}
	}
	if !refused || want > 2*memory.MaxCommit {
		t.Errorf("the value has %d bytes, refused: %t", want, refused)
	}
	for range 2 {
		found, err := e.Get(key, func(value []byte) error {
			if len(value) != want {
				t.Errorf("the value has %d bytes, want %d", len(value), want)
			}
			return nil
		})
		if !found || err != nil {
			t.Errorf("%t, %v", found, err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = openAppending(t, o)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
