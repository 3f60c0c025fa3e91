package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// smallMemTable is the size of the memtables of these tests.
const smallMemTable = 8 << 20

func open(t *testing.T, dir string) *Engine {
	t.Helper()
	return openWith(t, Options{Dir: dir}, enginetest.Union)
}

func openWith(t *testing.T, o Options, fold engine.Fold) *Engine {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	o.MemTableSize, o.Log = smallMemTable, zerolog.New(zerolog.NewTestWriter(t))
	e, err := Open(o, fold)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// write writes one operation after the other.
func write(t *testing.T, e *Engine, ops ...engine.Op) {
	t.Helper()
	for i := range ops {
		if _, err := e.Write(ops[i : i+1]); err != nil {
			t.Fatal(err)
		}
	}
}

// get is what a key holds.
func get(t *testing.T, r engine.Reader, key string) (value string) {
	t.Helper()
	if _, err := r.Get([]byte(key), func(v []byte) error { value = string(v); return nil }); err != nil {
		t.Fatal(err)
	}
	return value
}

// TestWrite puts, merges and deletes. A snapshot has what was written before it.
func TestWrite(t *testing.T) {
	o := Options{Dir: t.TempDir()}
	e := openWith(t, o, enginetest.Union)
	key := []byte("k")
	steps := []struct {
		op   engine.Op
		want string
	}{
		{engine.Op{Kind: engine.Merge, Key: key, Value: []byte("b")}, "b"},
		{engine.Op{Kind: engine.Merge, Key: key, Value: []byte("a")}, "a b"},
		{engine.Op{Kind: engine.Put, Key: key, Value: []byte("c")}, "c"},
		{engine.Op{Kind: engine.Delete, Key: key}, ""},
		{engine.Op{Kind: engine.Merge, Key: key, Value: []byte("d")}, "d"},
		{engine.Op{Kind: engine.Merge, Key: key, Value: []byte("e")}, "d e"},
	}
	var snapshots []*Snapshot
	check := func() {
		t.Helper()
		for i, s := range snapshots {
			if got := get(t, s, "k"); got != steps[i].want {
				t.Errorf("snapshot %d of %d has %q", i, len(snapshots), got)
			}
		}
	}
	for _, step := range steps {
		write(t, e, step.op)
		snapshots = append(snapshots, e.Snapshot())
		check()
	}
	for _, s := range snapshots {
		s.Release()
	}
	snapshots = nil
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openWith(t, o, enginetest.Union)
	if got := get(t, e.Snapshot(), "k"); got != "d e" {
		t.Errorf("opened again it has %q", got)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestWriteStops has one operation fail in the middle: those before it are written.
func TestWriteStops(t *testing.T) {
	broken := errors.New("the value is broken")
	e := openWith(t, Options{}, func(_, _, _, _ []byte) ([]byte, error) { return nil, broken })
	defer e.Close()
	write(t, e, engine.Op{Key: []byte("c"), Value: []byte("1")})
	var ops []engine.Op
	for _, key := range []string{"a", "b", "c", "d"} {
		ops = append(ops, engine.Op{Kind: engine.Merge, Key: []byte(key), Value: []byte("2")})
	}
	n, err := e.Write(ops)
	if n != 2 || !errors.Is(err, broken) {
		t.Errorf("%d are written, %v", n, err)
	}
	s := e.Snapshot()
	for key, want := range map[string]string{"a": "2", "b": "2", "c": "1", "d": ""} {
		if got := get(t, s, key); got != want {
			t.Errorf("%s holds %q", key, got)
		}
	}
	s.Release()
}

// TestManyWrites writes more at once than a transaction has.
func TestManyWrites(t *testing.T) {
	e := openWith(t, Options{}, enginetest.Union)
	defer e.Close()
	var ops []engine.Op
	for i := range 5000 {
		ops = append(ops, engine.Op{Key: numberedKey(i), Value: numberedValue(i, 800)})
	}
	if n, err := e.Write(ops); n != len(ops) || err != nil {
		t.Fatal(n, err)
	}
	if found, err := readNumbered(e); err != nil || len(found) != len(ops) {
		t.Errorf("there are %d of %d, %v", len(found), len(ops), err)
	}
}

func TestFolderInUse(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
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

// TestLargeValues writes the largest values, which go to the value log.
func TestLargeValues(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	large := strings.Repeat("x", 16<<20)
	for i := range 5 {
		write(t, e, engine.Op{Key: []byte(fmt.Sprint("k", i)), Value: []byte(large)})
	}
	if n, err := e.Write([]engine.Op{{Key: []byte("k"), Value: make([]byte, maxValue+1)}}); n != 0 ||
		!errors.Is(err, engine.ErrTooLarge) {
		t.Errorf("a value that is too long: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, dir)
	defer e.Close()
	s := e.Snapshot()
	defer s.Release()
	n := 0
	err := s.Scan(nil, nil, engine.ScanOptions{}, func(_, v []byte) (bool, error) {
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
