package badger

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cqld/cqld/store/engine/badger/check"
)

// A power cut on a real file system is in compat_tests/crash, which needs root for it. These tests have a disk of their
// own: a folder with what was synced of the logs.

// TestSyncsAllLogs wants every log synced, those that are full as well, and the folder behind them.
func TestSyncsAllLogs(t *testing.T) {
	dir := t.TempDir()
	write := func(names ...string) {
		for _, name := range names {
			writeFile(t, filepath.Join(dir, name), []byte("some"))
		}
	}
	var synced []string
	l := newLogs(dir, func() error {
		synced = append(synced, "current")
		return nil
	})
	l.sync = func(path string) error {
		synced = append(synced, filepath.Base(path))
		return nil
	}
	folder := filepath.Base(dir)
	expect := func(sync func() error, want ...string) {
		t.Helper()
		synced = nil
		if err := sync(); err != nil || !slices.Equal(synced, want) {
			t.Errorf("synced %v, error %v, want %v", synced, err, want)
		}
	}
	write("00001.mem", "00002.mem", "00003.mem", "000001.vlog", "000002.vlog", "000001.sst", "MANIFEST")
	expect(l.all, "000001.vlog", "000002.vlog", "current", "00001.mem", "00002.mem", "00003.mem", folder)
	write("00004.mem", "000003.vlog")
	expect(l.all, "000002.vlog", "000003.vlog", "current", "00001.mem", "00002.mem", "00003.mem", "00004.mem", folder)
	expect(l.all, "000003.vlog", "current", "00001.mem", "00002.mem", "00003.mem", "00004.mem", folder)
}

// shadow is a disk that has of each log what was synced of it.
type shadow struct {
	t    *testing.T
	from string
	disk string
	mu   sync.Mutex // held while the disk changes
}

// sync takes over what a log has.
func (s *shadow) sync(path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if path != s.from {
		copyFile(s.t, path, filepath.Join(s.disk, filepath.Base(path)))
	}
	return nil
}

// cut returns a folder as it is after a power cut. Badger syncs the other files itself. A table's log is removed when
// the list of tables has the table, so the list is read after the logs' names.
func (s *shadow) cut() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.t.TempDir()
	logs, err := newLogs(s.from, nil).names()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, name := range slices.Concat(logs.memtables, logs.values) {
		copyFile(s.t, filepath.Join(s.disk, name), filepath.Join(left, name))
	}
	others, err := filepath.Glob(filepath.Join(s.from, "[A-Z]*"))
	if err != nil {
		s.t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(s.from, "*.sst"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, path := range append(others, tables...) {
		copyFile(s.t, path, filepath.Join(left, filepath.Base(path)))
	}
	return left
}

// TestCut cuts the power of an engine that syncs now and then, between its syncs. What was written
// before the last sync began is there, and the rest is whole or not there.
func TestCut(t *testing.T) {
	for i := range 3 {
		dir := t.TempDir()
		disk := &shadow{t: t, from: dir, disk: t.TempDir()}
		e := open(t, dir)
		e.logs.sync = disk.sync
		written, safe := 0, 0
		random := rand.New(rand.NewPCG(uint64(i), 1))
		for range 3 + 2*i {
			for range 100 + random.IntN(300) {
				if err := numbered(e, written, 800+8*random.IntN(1000)); err != nil {
					t.Fatal(err)
				}
				written++
			}
			if random.IntN(2) == 0 {
				if err := e.Sync(); err != nil {
					t.Fatal(err)
				}
				safe = written
			}
		}
		waitForTables(t, e)
		expectFirst(t, disk.cut(), safe)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// waitForTables waits until no memtable is about to become a table, so that files can be copied.
func waitForTables(t *testing.T, e *Engine) {
	t.Helper()
	for range 1000 {
		begun := 0
		paths, err := filepath.Glob(filepath.Join(e.room.dir, "*"+check.MemtableLog))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil && info.Size() > 0 {
				begun++
			}
		}
		if begun == 1 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("memtables do not become tables")
}

func writeFile(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// expectFirst opens what a power cut left. The first numbers are there.
func expectFirst(t *testing.T, dir string, first int) {
	t.Helper()
	e, _, err := openQuietly(dir)
	if err != nil {
		t.Error(err)
		return
	}
	defer e.Close()
	found, err := readNumbered(e)
	if err != nil {
		t.Error(err)
	}
	for i := range first {
		if !found[i] {
			t.Errorf("%d is lost, of %d that were synced and %d that are there", i, first, len(found))
			return
		}
	}
}
