package disk

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
)

// full has the tests of this package do all that they can. CI sets it.
var full = os.Getenv("TEST_CQLD_FULL") != ""

// TestBigCommits commits short and long values at random, several to a key at a time too, while memtables are flushed:
// the keys hold what a map would, when each commit is answered and when the folder is opened again. Of a value that
// becomes too long nothing is written.
func TestBigCommits(t *testing.T) {
	o := tiny(t, folder(t), Periodic)
	o.Memtable, o.segment, o.below.MemTable = 2<<20, 2<<20, 16<<20
	e := openAppending(t, o)
	defer func() { e.Close() }()
	random := rand.New(rand.NewPCG(1, 2))
	lengths := []int{1, 100, 64<<10 - 1, 64 << 10, longDelta - 1, longDelta, 1 << 20, 5 << 20}
	held := map[string][]byte{}
	tooLong, flushes := 0, uint64(0)
	commits := 60
	if full {
		commits = 300
	}
	for n := range commits {
		next, longest := map[string][]byte{}, 0
		var ops []engine.Op
		for range 1 + random.IntN(4) {
			key := fmt.Sprint("table ", random.IntN(4))
			if _, ok := next[key]; !ok {
				next[key] = held[key]
			}
			op := engine.Op{Kind: engine.Merge, Key: []byte(key)}
			switch random.IntN(10) {
			case 0:
				op.Kind, next[key] = engine.Delete, nil
			case 1, 2:
				op.Kind, next[key] = engine.Put, nil
			}
			if op.Kind != engine.Delete {
				op.Value = bytes.Repeat([]byte{byte(n)}, lengths[random.IntN(len(lengths))])
				next[key] = append(bytes.Clone(next[key]), op.Value...)
				longest = max(longest, len(next[key]))
			}
			ops = append(ops, op)
		}
		err := commit(e, ops...)
		switch {
		case err == nil:
			for key, value := range next {
				held[key] = value
			}
		case errors.Is(err, engine.ErrTooLarge) && (longest > memory.MaxCommit || sizeOfOps(ops) > memory.MaxCommit):
			tooLong++
		default:
			t.Fatalf("a value of %d bytes: %v", longest, err)
		}
		for key := range next {
			wantHeld(t, e, key, held[key])
		}
		if n%30 == 29 {
			flushes += e.flushes.Load()
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			e = openAppending(t, o)
			for key, value := range held {
				wantHeld(t, e, key, value)
			}
		}
	}
	if tooLong == 0 || flushes == 0 {
		t.Errorf("%d values became too long, %d memtables were flushed", tooLong, flushes)
	}
}

func sizeOfOps(ops []engine.Op) (n int) {
	for _, op := range ops {
		n += len(op.Key) + len(op.Value)
	}
	return n
}

// wantHeld wants a key to hold a value; nil: to hold none.
func wantHeld(t *testing.T, e *Engine, key string, want []byte) {
	t.Helper()
	found, err := e.Get([]byte(key), func(value []byte) error {
		if !bytes.Equal(value, want) {
			t.Errorf("%s has %d bytes, want %d", key, len(value), len(want))
		}
		return nil
	})
	if found != (want != nil) || err != nil {
		t.Fatalf("%s is found: %t, %v", key, found, err)
	}
}
