package badger

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/store/engine/files"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine/badger/check"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// wholeMatrix makes TestMatrix damage each file in all ways that it knows; without, it takes some of them.
var wholeMatrix = os.Getenv("CQLD_TEST_MATRIX") != ""

// tinyMemTable makes folders of all kinds of files with little data. A large value is one for the value log.
const (
	tinyMemTable = 1 << 20
	tinyLarge    = tinyMemTable/10 + 8000
)

func openTiny(dir string, repair bool) (*Engine, *strings.Builder, error) {
	log := &strings.Builder{}
	e, err := Open(Options{
		Dir: dir, MemTableSize: tinyMemTable, Repair: repair,
		Log: zerolog.New(zerolog.SyncWriter(log)),
	}, enginetest.Union)
	return e, log, err
}

// writeTiny commits numbers, of which every hundredth has a large value.
func writeTiny(t *testing.T, e *Engine, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		size := 800
		if i%100 == 99 {
			size = tinyLarge
		}
		if err := numbered(e, i, size); err != nil {
			t.Fatal(err)
		}
	}
}

// damagedFolder is a folder to be damaged, as it was before, and how many numbers it has.
type damagedFolder struct {
	name, dir, older string
	count            int
	syncedTo         int
}

// makeFolders makes folders of all kinds: closed, killed a moment after a sync, and killed long after it.
func makeFolders(t *testing.T) (folders []damagedFolder) {
	t.Helper()
	dir := t.TempDir()
	open := func() *Engine {
		e, _, err := openTiny(dir, false)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open()
	writeTiny(t, e, 0, 700)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	first := copyFolder(t, dir)
	e = open()
	writeTiny(t, e, 700, 2000)
	waitForTables(t, e)
	if err := e.Sync(); err != nil {
		t.Fatal(err)
	}
	second := copyFolder(t, dir)
	writeTiny(t, e, 2000, 3150)
	waitForTables(t, e)
	e.look() // the record of the files has all of them
	killed := copyFolder(t, dir)
	folders = append(folders, damagedFolder{"killed", killed, second, 3150, 0},
		damagedFolder{"killed, older by a run", killed, first, 3150, 0})
	if err := e.Sync(); err != nil {
		t.Fatal(err)
	}
	e.look()
	synced := copyFolder(t, dir)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return append(folders, damagedFolder{"synced", synced, second, 3150, 3150},
		damagedFolder{"closed", copyFolder(t, dir), first, 3150, 3150})
}

// change is a way to damage a file. It reports whether that changed anything.
type change struct {
	name string
	do   func(t *testing.T, path string) bool
}

// changes are the ways to damage a file of a folder.
func changes(t *testing.T, f damagedFolder, file string) (all []change) {
	t.Helper()
	path := filepath.Join(f.dir, file)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	size, end := info.Size(), dataEnd(t, path)
	add := func(name string, do func(t *testing.T, path string) bool) { all = append(all, change{name, do}) }
	add("removed", func(t *testing.T, path string) bool { return os.Remove(path) == nil })
	for _, n := range []int64{0, end / 2, end - 1, end - 7, end - 5000, size / 2, size - 3, 10, 20} {
		if n < 0 || n >= size || !wholeMatrix && n != end/2 && n != end-7 {
			continue
		}
		add(fmt.Sprintf("cut to %d of %d", n, size), func(t *testing.T,
			path string,
		) bool {
			return os.Truncate(path, n) == nil
		})
	}
	random := rand.New(rand.NewPCG(uint64(end), 1))
	places := []int64{random.Int64N(max(end, 1))}
	if wholeMatrix {
		for i := range int64(6) {
			places = append(places, i, end-1-i, random.Int64N(max(end, 1)), random.Int64N(max(end, 1)))
		}
	}
	for _, at := range places {
		if at < 0 || at >= size {
			continue
		}
		bit := byte(1) << random.IntN(8)
		add(fmt.Sprintf("byte %d of %d changed", at, end),
			func(t *testing.T, path string) bool { return changeAt(t, path, at, bit) })
	}
	older := filepath.Join(f.older, file)
	if _, err := os.Stat(older); err == nil {
		add("swapped with an older one", func(t *testing.T, path string) bool {
			if bytes.Equal(trimmed(t, path), trimmed(t, older)) {
				return false
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			copyFile(t, older, path)
			return true
		})
	}
	return all
}

func changeAt(t *testing.T, path string, at int64, bit byte) bool {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var b [1]byte
	if _, err := file.ReadAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= bit
	if _, err := file.WriteAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	return true
}

// trimmed is what a file has without zeros at its end.
func trimmed(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := files.DataFrom(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func dataEnd(t *testing.T, path string) int64 { return int64(len(trimmed(t, path))) }

// contents are all files below a folder: their lengths and what they have.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		all[strings.TrimPrefix(path, dir)] = fmt.Sprint(info.Size(), " ", string(trimmed(t, path)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestMatrix damages each file of folders in many ways. A folder is refused with the file's name, and nothing of it
// is changed; or it opens with all commits up to one, and the log has the file's name if that is not the last. A
// refused one is opened with what can be read when it is repaired, and what was damaged is kept.
func TestMatrix(t *testing.T) {
	for _, f := range makeFolders(t) {
		if !wholeMatrix && strings.Contains(f.name, "older") {
			continue
		}
		entries, err := os.ReadDir(f.dir)
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]int{}
		for _, entry := range entries {
			name := entry.Name()
			if name == "LOCK" || entry.IsDir() {
				continue
			}
			kind := filepath.Ext(name)
			if kind == "" {
				kind = name
			}
			if kinds[kind]++; !wholeMatrix && kinds[kind] > 1 {
				continue
			}
			t.Run(f.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				for _, c := range changes(t, f, name) {
					t.Run(c.name, func(t *testing.T) { tryDamage(t, f, name, c) })
				}
			})
		}
	}
}

// tryDamage damages a file of a copy of a folder and looks what comes of it.
func tryDamage(t *testing.T, f damagedFolder, name string, c change) {
	dir, err := os.MkdirTemp("", "cqld") // a name that has none of a file's
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	enginetest.CopyFolder(t, f.dir, dir)
	path := filepath.Join(dir, name)
	if !c.do(t, path) {
		return
	}
	before := contents(t, dir)
	e, log, err := openTiny(dir, false)
	if err == nil {
		found := readAndClose(t, e)
		if len(found) == f.count {
			return
		}
		for i := range len(found) {
			if !found[i] {
				t.Fatalf("%d is missing of %d, log %s", i, len(found), log)
			}
		}
		if len(found) < f.syncedTo {
			t.Errorf("%d are there, and %d were synced", len(found), f.syncedTo)
		}
		if !strings.Contains(log.String(), name) && !strings.Contains(log.String(), "are lost") {
			t.Errorf("%d of %d are there, and the log does not say why: %s", len(found), f.count, log)
		}
		return
	}
	if !errors.Is(err, check.ErrDamaged) || !strings.Contains(err.Error(), name) {
		t.Errorf("the error does not name the file: %v", err)
	}
	if after := contents(t, dir); !maps.Equal(before, after) {
		t.Errorf("the folder was changed: %v, before %v", slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
	}
	refusal := err
	e, log, err = openTiny(dir, true)
	if err != nil {
		t.Fatalf("repair: %v, after %v", err, refusal)
	}
	found := readAndClose(t, e)
	if lost := f.count - len(found); lost > mayLose(name, c.name) {
		t.Errorf("the repair loses %d, after %v, log %s", lost, refusal, log)
	}
	if !strings.Contains(log.String(), name) {
		t.Errorf("the log of the repair does not name the file: %s", log)
	}
	if was, ok := before["/"+name]; ok {
		kept := trimmed(t, filepath.Join(dir, files.AsideFolder, name))
		if _, b, _ := strings.Cut(was, " "); b != string(kept) {
			t.Errorf("what is set aside is not the damaged file")
		}
	}
	e, log, err = openTiny(dir, false)
	if err != nil {
		t.Fatalf("after the repair: %v", err)
	}
	if again := readAndClose(t, e); len(again) != len(found) || log.Len() > 0 {
		t.Errorf("after the repair %d were there, and then %d, log %s", len(found), len(again), log)
	}
}

// mayLose is how many numbers a repair may lose.
func mayLose(name, change string) int {
	changed := strings.HasPrefix(change, "byte")
	switch filepath.Ext(name) {
	case check.MemtableLog:
		if changed {
			return 2
		}
		return 2000
	case check.TableFile:
		return 2000
	case check.ValueLog:
		if changed {
			return 1
		}
		return 30
	}
	return 0
}

// readAndClose reads all numbers, which must have their own values, and closes the engine.
func readAndClose(t *testing.T, e *Engine) map[int]bool {
	t.Helper()
	found, err := readNumbered(e)
	if err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	return found
}
