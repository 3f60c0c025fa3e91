package badger

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// tinyCache has room for a few values, so that the suite drops some all the time.
const tinyCache = 1 << 10

// open opens an engine with a memtable so small that the suite rotates it.
func open(t *testing.T, dir string, sync Sync, fold engine.Fold) engine.Engine {
	t.Helper()
	return openWith(t, Options{Dir: dir, Sync: sync}, fold)
}

func openWith(t *testing.T, o Options, fold engine.Fold) *Engine {
	t.Helper()
	o.MemTableSize, o.Log = SmallMemTable, zerolog.New(zerolog.NewTestWriter(t))
	e, err := Open(o, fold)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestContract(t *testing.T) {
	for name, o := range map[string]Options{
		"": {}, ", tiny cache": {CacheSize: tinyCache}, ", no cache": {CacheSize: -1},
		", tails": {LongValue: 1}, ", tails, no cache": {LongValue: 1, CacheSize: -1},
	} {
		t.Run("memory"+name, func(t *testing.T) {
			enginetest.Run(t, enginetest.Harness{Open: func(t *testing.T, fold engine.Fold) engine.Engine {
				return openWith(t, o, fold)
			}})
		})
	}
	for name, o := range map[string]Options{
		"periodic": {Sync: Periodic},
		"batch":    {Sync: Batch, CacheSize: tinyCache},
		"tails":    {LongValue: 1},
	} {
		t.Run("disk, "+name, func(t *testing.T) {
			dirs := map[engine.Engine]string{}
			in := func(t *testing.T, dir string, fold engine.Fold) engine.Engine {
				o := o
				o.Dir = dir
				e := openWith(t, o, fold)
				dirs[e] = dir
				return e
			}
			enginetest.Run(t, enginetest.Harness{
				Open: func(t *testing.T, fold engine.Fold) engine.Engine { return in(t, t.TempDir(), fold) },
				Reopen: func(t *testing.T, e engine.Engine, fold engine.Fold) engine.Engine {
					if err := e.Close(); err != nil {
						t.Fatal(err)
					}
					return in(t, dirs[e], fold)
				},
			})
		})
	}
}

func TestFolderInUse(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, Periodic, enginetest.Union)
	defer e.Close()
	_, err := Open(Options{Dir: dir}, enginetest.Union)
	if err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("second open: %v", err)
	}
}

func TestFolderNotWritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: filepath.Join(file, "data")}, enginetest.Union); err == nil ||
		!strings.Contains(err.Error(), "cannot be created") {
		t.Errorf("a folder below a file: %v", err)
	}
	if os.Getuid() == 0 {
		t.Skip("everything is writable for root")
	}
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: dir}, enginetest.Union); err == nil ||
		!strings.Contains(err.Error(), "cannot be written to") {
		t.Errorf("a folder without write permission: %v", err)
	}
}

// TestLargeValues writes values of the largest size that a commit takes, which go to the value log.
func TestLargeValues(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, Periodic, enginetest.Union)
	large := strings.Repeat("x", e.Limits().CommitBytes-100)
	for i := range 5 {
		done := make(chan error, 1)
		e.Commit([]engine.Op{{Key: []byte(fmt.Sprint("k", i)), Value: []byte(large)}}, func(err error) { done <- err })
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, dir, Periodic, enginetest.Union)
	defer e.Close()
	n := 0
	err := e.Scan(nil, nil, engine.ScanOptions{}, func(_, v []byte) (bool, error) {
		if string(v) != large {
			t.Errorf("value %d has %d bytes", n, len(v))
		}
		n++
		return true, nil
	})
	if err != nil || n != 5 {
		t.Errorf("%d values, error %v", n, err)
	}
}
