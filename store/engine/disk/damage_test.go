package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/badger"
	"github.com/cqld/cqld/store/engine/enginetest"
	"github.com/cqld/cqld/store/engine/files"
)

// logText is a log that a test reads while an engine writes it.
type logText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logText) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// damagedLog are options for folders whose commits are in a log of several segments and nowhere else.
func damagedLog(dir string, log io.Writer) Options {
	return Options{
		Dir: dir, segment: 4 << 10, below: badger.Options{MemTable: 1 << 20}, SyncEvery: time.Hour,
		Log: zerolog.New(zerolog.SyncWriter(log)),
	}
}

// writeNumbers commits numbers, each with a key of its own.
func writeNumbers(t *testing.T, e *Engine, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		value := bytes.Repeat([]byte{byte('a' + i%26)}, 200)
		if err := commit(e, engine.Op{Key: fmt.Appendf(nil, "%05d", i), Value: value}); err != nil {
			t.Fatal(err)
		}
	}
}

// readNumbers reads them. Each has its own value.
func readNumbers(t *testing.T, e *Engine) map[int]bool {
	t.Helper()
	found := map[int]bool{}
	err := e.Scan(nil, nil, engine.ScanOptions{}, func(k, v []byte) (bool, error) {
		i, err := strconv.Atoi(string(k))
		if err != nil || !bytes.Equal(v, bytes.Repeat([]byte{byte('a' + i%26)}, 200)) {
			t.Errorf("%q holds %q", k, v)
		}
		found[i] = true
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// logFiles are the files of the log in a folder.
func logFiles(t *testing.T, dir string) (all []string) {
	for _, name := range enginetest.FilesIn(t, dir) {
		if strings.HasPrefix(name, "LOG") || strings.HasSuffix(name, ".log") {
			all = append(all, name)
		}
	}
	return all
}

// contents are all files of a folder.
func contents(t *testing.T, dir string) map[string]string {
	all := map[string]string{}
	for _, name := range enginetest.FilesIn(t, dir) {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		b, err := files.DataFrom(f, 0)
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		all[name] = fmt.Sprint(info.Size(), " ", string(b))
	}
	return all
}

// wholeMatrix makes TestDamagedLog damage each file in all ways that it knows; without, it takes some of them.
var wholeMatrix = os.Getenv("TEST_CQLD_MATRIX") != ""

// some are ways to damage a file that are always tried.
var some = []string{"removed", "cut to ", "swapped with the one before"}

// TestDamagedLog damages each file of a log in many ways. The folder is refused by the name of a file, and nothing is
// changed, or it opens with all commits up to one that was not synced and tells of it. A refused one is repaired: it
// has all commits but those that the repair counts.
func TestDamagedLog(t *testing.T) {
	const synced, count = 60, 100
	dir := folder(t)
	e := open(t, damagedLog(dir, new(logText)))
	writeNumbers(t, e, 0, synced)
	if err := e.Sync(); err != nil {
		t.Fatal(err)
	}
	writeNumbers(t, e, synced, count)
	image := copyFolder(t, dir)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	all := logFiles(t, image)
	if len(all) < 7 {
		t.Fatalf("the log has only the files %v", all)
	}
	for i, name := range all {
		if !wholeMatrix && strings.HasSuffix(name, ".log") && i%3 != 0 {
			continue
		}
		content, err := os.ReadFile(filepath.Join(image, name))
		if err != nil {
			t.Fatal(err)
		}
		end := len(bytes.TrimRight(content, "\x00"))
		changes := map[string]func(path string) error{"removed": os.Remove}
		cuts := []int{end / 2, end - 1}
		if wholeMatrix {
			cuts = append(cuts, 0, 7, 20, end-300)
		}
		for _, n := range cuts {
			if n >= 0 && n < end {
				changes[fmt.Sprint("cut to ", n)] = func(path string) error { return os.Truncate(path, int64(n)) }
				changes[fmt.Sprint("zeros from ", n)] = func(path string) error {
					return os.WriteFile(path, append(bytes.Clone(content[:n]), make([]byte, len(content)-n)...), 0o600)
				}
			}
		}
		for _, at := range []int{0, 3, 9, 20, 22, 25, 30, end / 3, end / 2, end - 100, end - 1} {
			if at >= 0 && at < end {
				changes[fmt.Sprint("byte ", at, " changed")] = func(path string) error {
					b := bytes.Clone(content)
					b[at] ^= 0x10
					return os.WriteFile(path, b, 0o600)
				}
			}
		}
		if i > 0 && strings.HasSuffix(name, ".log") && strings.HasSuffix(all[i-1], ".log") {
			changes["swapped with the one before"] = func(path string) error {
				other := filepath.Join(filepath.Dir(path), all[i-1])
				return errors.Join(os.Rename(path, path+"x"), os.Rename(other, path), os.Rename(path+"x", other))
			}
		}
		for what, change := range changes {
			if !wholeMatrix && !slices.Contains(some, strings.TrimRight(what, "0123456789")) {
				if at, ok := strings.CutPrefix(what, "byte "); !ok || !strings.HasPrefix(at, fmt.Sprint(end/2)) {
					continue
				}
			}
			t.Run(name+" "+what, func(t *testing.T) { tryDamaged(t, image, name, change, synced, count) })
		}
	}
}

func tryDamaged(t *testing.T, image, name string, change func(path string) error, synced, count int) {
	t.Parallel()
	dir := copyFolder(t, image)
	if err := change(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	log := new(logText)
	e, err := Open(damagedLog(dir, log), enginetest.Union)
	if err == nil {
		found := readNumbers(t, e)
		for i := range len(found) {
			if !found[i] {
				t.Fatalf("%d is missing of %d", i, len(found))
			}
		}
		if len(found) < synced || len(found) < count && !strings.Contains(log.String(), "are lost") {
			t.Errorf("%d are left of %d, the log is %s", len(found), count, log)
		}
		writeNumbers(t, e, len(found), count)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = open(t, damagedLog(dir, log))
		if again := readNumbers(t, e); len(again) != count {
			t.Errorf("opened again there are %d", len(again))
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), dir+"/") {
		t.Fatalf("the refusal is %v", err)
	}
	if strings.HasPrefix(name, "LOG") && !strings.Contains(err.Error(), name) {
		t.Errorf("the refusal does not name %s: %v", name, err)
	}
	if after := contents(t, dir); !maps.Equal(before, after) {
		t.Errorf("a refused folder was changed: %v, before %v", slices.Sorted(maps.Keys(after)),
			slices.Sorted(maps.Keys(before)))
	}
	o := damagedLog(dir, log)
	o.Repair = true
	e = open(t, o)
	found := readNumbers(t, e)
	noted, err := e.Repaired()
	if err != nil || noted == nil {
		t.Fatalf("the repair has noted nothing: %v", err)
	}
	counted := 0
	for _, l := range noted.Losses {
		counted += int(l.Commits)
	}
	if missing := count - len(found); counted != missing && !(counted < missing && name == "LOGGED") {
		t.Errorf("%d commits are missing, and the repair notes %+v", missing, noted)
	}
	if lost := count - len(found); lost > 0 && !strings.HasSuffix(name, ".log") {
		t.Errorf("the repair loses %d", lost)
	}
	if !strings.Contains(log.String(), filepath.Join(dir, files.QuarantineFolder)) {
		t.Errorf("the repair does not tell where it keeps what was damaged: %s", log)
	}
	writeNumbers(t, e, 0, 1)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, damagedLog(dir, log))
	found[0] = true
	if again := readNumbers(t, e); !maps.Equal(again, found) {
		t.Errorf("after the repair %d, opened again %d", len(found), len(again))
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestTornRecord cuts the last record at each byte, as a kill in the middle of a write leaves it: the others are
// there.
func TestTornRecord(t *testing.T) {
	dir := folder(t)
	o := damagedLog(dir, new(logText))
	e := open(t, o)
	writeNumbers(t, e, 0, 3)
	segment := filepath.Join(dir, "000001.log")
	_, whole := e.log.Size()
	writeNumbers(t, e, 3, 4)
	_, end := e.log.Size()
	image := copyFolder(t, dir)
	marks, err := os.ReadFile(filepath.Join(image, "LOGGED"))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(image, filepath.Base(segment)))
	if err != nil {
		t.Fatal(err)
	}
	for n := whole; n < end; n += 13 {
		o.Dir = copyFolder(t, image)
		torn := append(bytes.Clone(content[:n]), make([]byte, int64(len(content))-n)...)
		if err := os.WriteFile(filepath.Join(o.Dir, filepath.Base(segment)), torn, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(o.Dir, "LOGGED"), marks, 0o600); err != nil {
			t.Fatal(err)
		}
		e := open(t, o)
		if found := readNumbers(t, e); len(found) != 3 {
			t.Errorf("cut at %d of %d: there are %d", n, end, len(found))
		}
		writeNumbers(t, e, 3, 10)
		left := copyFolder(t, o.Dir) // killed again
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		o.Dir = left
		e = open(t, o)
		if found := readNumbers(t, e); len(found) != 10 {
			t.Errorf("cut at %d of %d, and killed again: there are %d", n, end, len(found))
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFormerFolder opens folders of formats that are not read any more: they are refused with what to do.
func TestFormerFolder(t *testing.T) {
	for _, name := range []string{"FILES", "MANIFEST", "LOG"} {
		dir := folder(t)
		if err := os.WriteFile(filepath.Join(dir, name), []byte("something"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, repair := range []bool{false, true} {
			o := damagedLog(dir, new(logText))
			o.Repair = repair
			if _, err := Open(o, enginetest.Union); err == nil || !strings.Contains(err.Error(), "cqld export") {
				t.Errorf("a folder with %s is opened: %v", name, err)
			}
		}
		if all := enginetest.FilesIn(t, dir); !slices.Equal(all, []string{name}) {
			t.Errorf("a refused folder has %v", all)
		}
	}
}
