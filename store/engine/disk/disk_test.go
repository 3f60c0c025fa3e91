package disk

import (
	"os"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/badger"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// tiny are options with which a few hundred commits are flushed several times.
func tiny(t testing.TB, dir string, sync Sync) Options {
	return Options{
		Dir: dir, Sync: sync, Memtable: 64 << 10, segment: 32 << 10, below: badger.Options{MemTable: 1 << 20, Eager: true},
		Log: zerolog.New(zerolog.NewTestWriter(t)), maxWait: patience,
	}
}

// patience is how long commits of a test wait for a flush: a machine that is busy with other tests may take long.
const patience = time.Minute

// folder makes a folder for a test, in memory where the system has a file system for that: the tests sync much.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "cqld-disk-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func open(t testing.TB, o Options) *Engine {
	t.Helper()
	e, err := Open(o, enginetest.Union)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// appending is a fold that appends the delta.
func appending(dst, _, existing, delta []byte) ([]byte, error) {
	return append(append(dst, existing...), delta...), nil
}

// openAppending is open with appending as the fold.
func openAppending(t testing.TB, o Options) *Engine {
	t.Helper()
	e, err := Open(o, appending)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// must commits an operation.
func must(t testing.TB, e *Engine, kind engine.OpKind, key, value string) {
	t.Helper()
	if err := commit(e, engine.Op{Kind: kind, Key: []byte(key), Value: []byte(value)}); err != nil {
		t.Fatal(err)
	}
}

// flush flushes what there is, and waits for it.
func flush(e *Engine) {
	n := e.flushes.Load()
	for e.FlushSoon(); e.flushes.Load() == n; {
		time.Sleep(time.Millisecond)
	}
}

func TestContract(t *testing.T) {
	for name, options := range map[string]func(t testing.TB, dir string) Options{
		"periodic": func(t testing.TB, dir string) Options {
			return Options{Dir: dir, Log: zerolog.New(zerolog.NewTestWriter(t)), maxWait: patience}
		},
		"batch": func(t testing.TB, dir string) Options {
			return Options{Dir: dir, Sync: Batch, Log: zerolog.New(zerolog.NewTestWriter(t)), maxWait: patience}
		},
		"many flushes":          func(t testing.TB, dir string) Options { return tiny(t, dir, Periodic) },
		"many flushes in batch": func(t testing.TB, dir string) Options { return tiny(t, dir, Batch) },
		"flushed after each commit": func(t testing.TB, dir string) Options {
			o := tiny(t, dir, Periodic)
			o.Memtable = 1
			return o
		},
	} {
		if !full && (name == "periodic" || name == "many flushes in batch") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			enginetest.Run(t, enginetest.Harness{
				Flushes: true,
				Open: func(t *testing.T, fold engine.Fold) engine.Engine {
					e, err := Open(options(t, folder(t)), fold)
					if err != nil {
						t.Fatal(err)
					}
					return e
				},
				Reopen: func(t *testing.T, e engine.Engine, fold engine.Fold) engine.Engine {
					if err := e.Close(); err != nil {
						t.Fatal(err)
					}
					again, err := Open(options(t, e.(*Engine).o.Dir), fold)
					if err != nil {
						t.Fatal(err)
					}
					return again
				},
			})
		})
	}
}
