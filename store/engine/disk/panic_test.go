package disk

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// TestBackgroundPanics panics in each goroutine of an engine. The folder is read-only from then on and says why, the
// rows are read, Close returns, and after the next start everything acknowledged is there and can be written again.
func TestBackgroundPanics(t *testing.T) {
	for name, plant := range map[string]func(o *Options, armed *atomic.Bool) engine.Fold{
		"flush": func(_ *Options, armed *atomic.Bool) engine.Fold {
			return func(dst, key, existing, delta []byte) ([]byte, error) {
				if armed.Load() {
					panic("planted")
				}
				return enginetest.Union(dst, key, existing, delta)
			}
		},
		"sync": func(o *Options, armed *atomic.Bool) engine.Fold {
			o.syncFile = func(f *os.File) error {
				if armed.Load() {
					panic("planted")
				}
				return f.Sync()
			}
			return enginetest.Union
		},
	} {
		for mode, sync := range map[string]Sync{"periodic": Periodic, "batch": Batch} {
			t.Run(name+", "+mode, func(t *testing.T) {
				var armed atomic.Bool
				var log bytes.Buffer
				o := Options{
					Dir: folder(t), Sync: sync, SyncEvery: time.Millisecond, Log: zerolog.New(zerolog.SyncWriter(&log)),
				}
				fold := plant(&o, &armed)
				e, err := Open(o, fold)
				if err != nil {
					t.Fatal(err)
				}
				must(t, e, engine.Put, "k", "before")
				flush(e)
				must(t, e, engine.Merge, "k", "delta")
				armed.Store(true)
				for e.Refusing() == nil {
					_ = commit(e, put("unknown", "v")) // so that there is something to sync
					e.FlushSoon()
				}
				if err := e.Refusing(); !errors.Is(err, engine.ErrRefused) || !panics.Is(err) {
					t.Errorf("the engine refuses for %v", err)
				}
				if err := commit(e, put("late", "v")); err == nil {
					t.Error("a commit is taken after the panic")
				}
				armed.Store(false)
				if got := valueOf(t, e, "k"); got != "before delta" {
					t.Errorf("k has %q", got)
				}
				_ = e.Close() // which returns
				if text := log.String(); !strings.Contains(text, "panic: planted") || !strings.Contains(text, "panic_test.go") {
					t.Errorf("the log does not have the panic and its stack: %s", text)
				}
				e = open(t, Options{Dir: o.Dir, Log: zerolog.Nop()})
				defer e.Close()
				if got := valueOf(t, e, "k"); got != "before delta" {
					t.Errorf("after a start k has %q", got)
				}
				must(t, e, engine.Put, "k", "after")
			})
		}
	}
}

// TestAcknowledgmentPanics has the caller of a commit panic when it is told the outcome: other commits have theirs, and
// Close returns.
func TestAcknowledgmentPanics(t *testing.T) {
	e := open(t, Options{Dir: folder(t), Sync: Batch, Log: zerolog.Nop()})
	e.Commit([]engine.Op{put("a", "1")}, func(error) { panic("planted") })
	e.Update(context.Background(), [][]byte{[]byte("g")}, func(txn engine.Txn) error {
		txn.Put([]byte("b"), []byte("1"))
		return nil
	}, func(error) { panic("planted") })
	must(t, e, engine.Put, "c", "1")
	for _, key := range []string{"a", "b", "c"} {
		if !has(t, e, key) {
			t.Errorf("%s is not there", key)
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func put(key, value string) engine.Op { return engine.Op{Key: []byte(key), Value: []byte(value)} }

func valueOf(t *testing.T, e *Engine, key string) (text string) {
	t.Helper()
	if _, err := e.Get([]byte(key), func(value []byte) error {
		text = string(bytes.Clone(value))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return text
}
