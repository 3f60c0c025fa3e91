package disk

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// commitNumbered commits a key for each number, with a value of some bytes.
func commitNumbered(t *testing.T, e *Engine, n int) {
	t.Helper()
	for i := range n {
		op := engine.Op{Kind: engine.Put, Key: []byte{'k', byte(i)}, Value: bytes.Repeat([]byte{1}, 1000)}
		e.Commit([]engine.Op{op}, func(err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLogIsSyncedBeforeTables has a memtable flushed while the log is not synced: nothing of it goes to Badger before
// the log is safe, because a table with a part of a commit would be left by a power cut.
func TestLogIsSyncedBeforeTables(t *testing.T) {
	o := tiny(t, folder(t), Periodic)
	o.SyncEvery = time.Hour
	asked, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	o.syncFile = func(f *os.File) error {
		once.Do(func() {
			close(asked)
			<-release
		})
		return f.Sync()
	}
	e := open(t, o)
	commitNumbered(t, e, 100)
	for waiting := true; waiting; {
		select {
		case <-asked:
			waiting = false
		case <-time.After(time.Millisecond):
			if e.flushes.Load() > 0 {
				t.Fatal("a memtable was flushed before the log was synced")
			}
		}
	}
	below := e.badger.Snapshot()
	defer below.Release()
	if found, err := below.Get([]byte{'k', 0}, func([]byte) error { return nil }); found || err != nil {
		t.Errorf("a key is in Badger before the log is synced, %v", err)
	}
	close(release)
	for e.flushes.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestOpenSyncsLog opens the folder of a process that was killed before it synced its log: that is synced before it
// counts as synced.
func TestOpenSyncsLog(t *testing.T) {
	o := tiny(t, folder(t), Periodic)
	o.SyncEvery, o.Memtable = time.Hour, 1<<20
	e := open(t, o)
	commitNumbered(t, e, 100)
	if err := e.log.Prepare(nil); err != nil { // no file is made while they are copied
		t.Fatal(err)
	}
	killed := folder(t)
	if err := os.CopyFS(filepath.Join(killed, "data"), os.DirFS(o.Dir)); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	o.Dir = filepath.Join(killed, "data")
	segments, err := filepath.Glob(filepath.Join(o.Dir, "*.log"))
	if err != nil || len(segments) < 3 {
		t.Fatal(segments, err)
	}
	var synced []string
	o.syncFile = func(f *os.File) error {
		synced = append(synced, f.Name())
		return f.Sync()
	}
	e = open(t, o)
	opened := slices.Clone(synced)
	for _, name := range segments[:len(segments)-1] { // the last one waits to be used
		if !slices.Contains(opened, name) {
			t.Errorf("%s is not synced", name)
		}
	}
	o.syncFile = nil
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
