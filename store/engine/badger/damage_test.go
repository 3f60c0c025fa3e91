package badger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine/badger/check"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// The data of these tests: rows enough for a few blocks, and values that go to the value log.
const (
	smallValues, smallValue = 300, 800
	largeValues, largeValue = 3, 900 << 10
)

// writeNumbered writes them all.
func writeNumbered(t *testing.T, e *Engine) {
	t.Helper()
	for i := range smallValues + largeValues {
		size := smallValue
		if i >= smallValues {
			size = largeValue
		}
		if err := numbered(e, i, size); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnfinishedFiles opens a folder with what a kill or a power cut leaves of files that were being made.
func TestUnfinishedFiles(t *testing.T) {
	dir := t.TempDir()
	e := openWith(t, Options{Dir: dir}, enginetest.Union)
	writeNumbered(t, e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"00098.mem": "", "00099.mem": "", "000098.vlog": "", "000099.sst": "", "000098.sst": "the first bytes of a table",
		"MANIFEST-REWRITE": "half",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e = openWith(t, Options{Dir: dir}, enginetest.Union)
	if found, err := readNumbered(e); err != nil || len(found) != smallValues+largeValues {
		t.Errorf("%d values, error %v", len(found), err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("tables %v, error %v", tables, err)
	}
	if err := os.Remove(tables[0]); err != nil {
		t.Fatal(err)
	}
	if _, _, err := openQuietly(dir); err == nil || !strings.Contains(err.Error(), tables[0]) {
		t.Errorf("without a table: %v", err)
	}
}

// TestDamageFoundLater damages a table that is checked only when the engine works: then it answers no more. Tables that
// were merged into others meanwhile are not there any more, or empty and about to be removed.
func TestDamageFoundLater(t *testing.T) {
	dir := t.TempDir()
	e := openWith(t, Options{Dir: dir}, enginetest.Union)
	writeNumbered(t, e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openWith(t, Options{Dir: dir}, enginetest.Union)
	defer e.Close()
	empty := filepath.Join(dir, "999998.sst")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "0*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("there are no tables, %v", err)
	}
	table := tables[0]
	e.finished.Add(1)
	e.checkLater([]string{filepath.Join(dir, "999999.sst"), empty, table}, zerolog.Nop())
	if err := numbered(e, 1, 8); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(table, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("nothing that a table would have"), 1000); err != nil {
		t.Fatal(err)
	}
	e.finished.Add(1)
	e.checkLater([]string{table}, zerolog.Nop())
	if err := e.Damage(); err == nil || !strings.Contains(err.Error(), table) {
		t.Errorf("the damage is %v", err)
	}
	if err := numbered(e, 2, 8); err == nil || !strings.Contains(err.Error(), table) {
		t.Errorf("a commit answers %v", err)
	}
}

// TestDamageOfValuesFoundLater is the same for a value log. One that was cleaned is gone, or empty.
func TestDamageOfValuesFoundLater(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		e := openWith(t, Options{Dir: dir}, enginetest.Union)
		writeNumbered(t, e)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	e := openWith(t, Options{Dir: dir}, enginetest.Union)
	defer e.Close()
	path := filepath.Join(dir, check.ValueLogName(1))
	e.finished.Add(1)
	e.checkLater([]string{filepath.Join(dir, check.ValueLogName(99)), path}, zerolog.Nop())
	if _, err := readNumbered(e); err != nil {
		t.Fatal(err)
	}
	changeAt(t, path, 1000, 1)
	e.finished.Add(1)
	e.checkLater([]string{path}, zerolog.Nop())
	if err := numbered(e, 2, 8); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a commit answers %v", err)
	}
}
