package badger

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// The data of TestDamage: rows enough for a few blocks, and values that go to the value log.
const (
	smallValues, smallValue = 300, 800
	largeValues, largeValue = 3, 900 << 10
)

// writeNumbered writes them all.
func writeNumbered(t *testing.T, e engine.Engine) {
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

// TestDamage changes a byte of each kind of file, at many places. The folder is refused with the file's name, or a
// read fails, or the log has the file's name, or all is as it was: nothing is missing or different without a word.
func TestDamage(t *testing.T) {
	closed := t.TempDir()
	e := openWith(t, Options{Dir: closed}, enginetest.Union)
	writeNumbered(t, e)
	killed := copyFolder(t, closed)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		folder, pattern string
		places          int
	}{
		{closed, "*.sst", 25},
		{closed, "MANIFEST", 25},
		{closed, "KEYREGISTRY", 5},
		{closed, "DISCARD", 3},
		{closed, "*1.vlog", 5},
		{killed, "*.mem", 12},
		{killed, "*1.vlog", 3},
	} {
		t.Run(filepath.Base(c.folder)+" "+c.pattern, func(t *testing.T) {
			for i := range c.places {
				changeByte(t, copyFolder(t, c.folder), c.pattern, rand.New(rand.NewPCG(uint64(i), 0)), i)
			}
		})
	}
}

// changeByte changes a byte of a folder's file and looks what comes of it. The first places are the first bytes, the
// next the last bytes, and the others somewhere.
func changeByte(t *testing.T, dir, pattern string, random *rand.Rand, i int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no file %s: %v", pattern, err)
	}
	path := paths[random.IntN(len(paths))]
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 4<<20) // more than any has in front of its hole
	n, err := f.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	b = b[:n]
	end := len(strings.TrimRight(string(b), "\x00"))
	at := random.IntN(max(end, 1))
	if i < 20 {
		at = min(i*3/4, end-1)
		if i%2 == 1 {
			at = max(end-i, 0)
		}
	}
	at = max(at, 0)
	if _, err := f.WriteAt([]byte{b[at] ^ 1<<random.IntN(8)}, int64(at)); err != nil {
		t.Fatal(err)
	}
	e, log, err := openQuietly(dir, Periodic)
	if err != nil {
		if !strings.Contains(err.Error(), filepath.Base(path)) {
			t.Errorf("%s, byte %d of %d: the error does not name it: %v", filepath.Base(path), at, end, err)
		}
		return
	}
	found, err := readNumbered(e)
	if err == nil && len(found) != smallValues+largeValues && !strings.Contains(log.String(), filepath.Base(path)) {
		t.Errorf("%s, byte %d of %d: %d values are missing without a word, log %s", filepath.Base(path), at, end,
			smallValues+largeValues-len(found), log)
	}
	if err != nil && strings.HasPrefix(err.Error(), "the value of") {
		t.Errorf("%s, byte %d of %d: %v", filepath.Base(path), at, end, err)
	}
	if err := e.Close(); err != nil {
		t.Logf("%s, byte %d: close: %v", filepath.Base(path), at, err)
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
	tables, err := listedTables(dir)
	if err != nil || len(tables) == 0 {
		t.Fatalf("tables %v, error %v", tables, err)
	}
	if err := os.Remove(tables[0]); err != nil {
		t.Fatal(err)
	}
	if _, _, err := openQuietly(dir, Periodic); err == nil || !strings.Contains(err.Error(), tables[0]) {
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
	if _, err := readNumbered(e); err == nil || !strings.Contains(err.Error(), table) {
		t.Errorf("a scan answers %v", err)
	}
	if _, err := e.Get([]byte("k"), func([]byte) error { return nil }); err == nil || !strings.Contains(err.Error(), table) {
		t.Errorf("a get answers %v", err)
	}
	if err := numbered(e, 2, 8); err == nil || !strings.Contains(err.Error(), table) {
		t.Errorf("a commit answers %v", err)
	}
}
