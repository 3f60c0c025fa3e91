package disk

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/files"
)

// change replaces the byte of a file at a place by another one.
func change(t *testing.T, path string, at int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 0x10
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// filesLike are the files of a folder whose names match a pattern.
func filesLike(t *testing.T, dir, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found
}

// repairedNumbers repairs a folder, and returns the numbers in it. Then it opens as any other.
func repairedNumbers(t *testing.T, dir string) map[int]bool {
	t.Helper()
	log := &strings.Builder{}
	o := damagedLog(dir, log)
	o.Repair = true
	e := open(t, o)
	found := readNumbers(t, e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, repair := range []bool{false, true} {
		o.Repair = repair
		e := open(t, o)
		if again := readNumbers(t, e); !maps.Equal(again, found) {
			t.Errorf("after the repair there are %d, opened again %d", len(found), len(again))
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// TestRepairMarkers damages the block of a table with the markers of the last flush. Without them a repair would know
// of no flush, and take the folder for one that lacks a part of it, for ever.
func TestRepairMarkers(t *testing.T) {
	dir := folder(t)
	e := open(t, damagedLog(dir, new(logText)))
	writeNumbers(t, e, 0, 500)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	table := filesLike(t, dir, "*.sst")[0]
	b, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	change(t, table, bytes.Index(b, []byte("!cqld!flush!")))
	found := repairedNumbers(t, dir)
	e = open(t, damagedLog(dir, new(logText)))
	noted, err := e.Repaired()
	if err != nil || noted == nil || len(noted.Losses) != 1 {
		t.Fatalf("noted is %+v, %v", noted, err)
	}
	if l := noted.Losses[0]; l.Entries < 500-len(found) || len(found) < 450 || l.Commits != 0 {
		t.Errorf("%d are left, and noted is %+v", len(found), l)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedMemtable damages the log of a memtable of Badger's that a killed process has left, at many places. Badger
// cuts it off there: the commit log has what is missing, and what was deleted stays deleted.
func TestDamagedMemtable(t *testing.T) {
	dir := folder(t)
	o := damagedLog(dir, new(logText))
	o.Memtable = 64 << 10
	e := open(t, o)
	writeNumbers(t, e, 0, 1000)
	for i := range 300 {
		must(t, e, engine.Delete, string(slices.Sorted(maps.Keys(keysOf(t, e)))[i]), "")
	}
	writeNumbers(t, e, 1000, 1500)
	for e.flushes.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	want := readNumbers(t, e)
	image := copyFolder(t, dir)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range filesLike(t, image, "*.mem") {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		end := len(bytes.TrimRight(b, "\x00"))
		for _, at := range []int{0, 21, end / 5, end / 2, end - 5} {
			if at >= end {
				continue
			}
			o.Dir = copyFolder(t, image)
			change(t, filepath.Join(o.Dir, filepath.Base(path)), at)
			e, err := Open(o, nil)
			if err == nil {
				if found := readNumbers(t, e); !maps.Equal(found, want) {
					t.Errorf("byte %d: %d are served, of %d", at, len(found), len(want))
				}
				if err := e.Close(); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if !strings.Contains(err.Error(), ".mem") {
				t.Errorf("byte %d: the refusal is %v", at, err)
			}
			if found := repairedNumbers(t, o.Dir); !maps.Equal(found, want) {
				t.Errorf("byte %d: after the repair there are %d, of %d", at, len(found), len(want))
			}
			if kept, _ := filepath.Glob(filepath.Join(o.Dir, files.QuarantineFolder, "*.log")); len(kept) > 0 {
				t.Errorf("byte %d: the intact commit log is quarantined: %v", at, kept)
			}
		}
	}
}

// keysOf are the keys of an engine.
func keysOf(t *testing.T, e *Engine) map[string]bool {
	t.Helper()
	keys := map[string]bool{}
	err := e.Scan(nil, nil, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
		keys[string(key)] = true
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestDamagedValueLog changes each of the first bytes of Badger's value log, which has no values: nothing is lost.
func TestDamagedValueLog(t *testing.T) {
	dir := folder(t)
	e := open(t, damagedLog(dir, new(logText)))
	writeNumbers(t, e, 0, 10)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for at := range 20 {
		o := damagedLog(copyFolder(t, dir), new(logText))
		change(t, filesLike(t, o.Dir, "*.vlog")[0], at)
		e := open(t, o)
		if found := readNumbers(t, e); len(found) != 10 {
			t.Errorf("byte %d: there are %d", at, len(found))
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadOnly opens folders for reading that were closed and that a killed process has left: everything is there, no
// commit is taken, and no file changes.
func TestReadOnly(t *testing.T) {
	dir := folder(t)
	o := damagedLog(dir, new(logText))
	o.Memtable = 64 << 10
	e := open(t, o)
	writeNumbers(t, e, 0, 1000)
	for e.flushes.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	killed := copyFolder(t, dir)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for state, dir := range map[string]string{"closed": dir, "killed": killed} {
		before := contents(t, dir)
		o := damagedLog(dir, new(logText))
		o.ReadOnly = true
		e := open(t, o)
		if found := readNumbers(t, e); len(found) != 1000 {
			t.Errorf("%s: there are %d", state, len(found))
		}
		if err := commit(e, engine.Op{Key: []byte("key"), Value: []byte("value")}); err == nil || e.Refusing() == nil {
			t.Errorf("%s: a commit is taken", state)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if after := contents(t, dir); !maps.Equal(before, after) {
			t.Errorf("%s: the folder was changed: %v, before %v", state, slices.Sorted(maps.Keys(after)),
				slices.Sorted(maps.Keys(before)))
		}
	}
}

// TestKilledAfterRepair kills a process after a repair of the log, and damages the logs of Badger's memtables. All
// commits that were repaired are there, also when the folder is opened for reading, which does without these logs.
func TestKilledAfterRepair(t *testing.T) {
	dir := folder(t)
	o := damagedLog(dir, new(logText))
	e := open(t, o)
	writeNumbers(t, e, 0, 1000)
	if err := e.Sync(); err != nil {
		t.Fatal(err)
	}
	image := copyFolder(t, dir)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	change(t, filesLike(t, image, "*.log")[1], 100)
	o.Dir, o.Repair = image, true
	e = open(t, o)
	want := readNumbers(t, e)
	killed := copyFolder(t, image)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if len(want) < 990 {
		t.Fatalf("after the repair there are %d", len(want))
	}
	o.Repair = false
	for _, path := range filesLike(t, killed, "*.mem") {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if end := len(bytes.TrimRight(b, "\x00")); end > 200 {
			change(t, path, end/2)
		}
	}
	for _, readOnly := range []bool{true, false} {
		o.Dir, o.ReadOnly = killed, readOnly
		e, err := Open(o, nil)
		if err != nil {
			t.Fatalf("read only %t: %v", readOnly, err)
		}
		if found := readNumbers(t, e); !maps.Equal(found, want) {
			t.Errorf("read only %t: there are %d of %d", readOnly, len(found), len(want))
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
