package badger

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// folderForTest makes a folder, in memory where the system has a file system for that.
func folderForTest(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "cqld-badger-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// small are options with which a megabyte is a memtable.
func small(t testing.TB, dir string) Options {
	return Options{Dir: dir, MemTable: 1 << 20, Log: zerolog.New(zerolog.NewTestWriter(t))}
}

func open(t testing.TB, o Options) *Engine {
	t.Helper()
	e, err := Open(o)
	if err == nil {
		err = e.Confirm()
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func reopen(t testing.TB, e *Engine) *Engine {
	t.Helper()
	if err := e.Close(nil); err != nil {
		t.Fatal(err)
	}
	return open(t, e.o)
}

// patient waits for compactions.
func patient(error) error {
	time.Sleep(time.Millisecond)
	return nil
}

// flushing flushes what write writes, as the commits up to last.
func flushing(t testing.TB, e *Engine, last uint64, write func(f *Flush) error) {
	t.Helper()
	f := e.BeginFlush(patient)
	defer f.Discard()
	if err := errors.Join(write(f), f.Finish(last)); err != nil {
		t.Fatal(err)
	}
	e.Snapshot().Release() // Badger may drop what was before
}

// content is all that a snapshot shows.
func content(t testing.TB, e *Engine, o engine.ScanOptions) map[string]string {
	t.Helper()
	s := e.Snapshot()
	defer s.Release()
	all := map[string]string{}
	err := s.Scan(nil, nil, o, func(key, value []byte) (bool, error) {
		all[string(key)] = string(value)
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// get is the value of a key, or nothing.
func get(t testing.TB, e *Engine, key string) (value string) {
	t.Helper()
	s := e.Snapshot()
	defer s.Release()
	_, err := s.Get([]byte(key), func(v []byte) error {
		value = string(v)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// model compares an engine with a map.
type model struct {
	testing.TB
	random *rand.Rand
	engine *Engine
	holds  map[string]string
	last   uint64
}

// flush writes random keys: values that are short, long enough to be cut, or deleted.
func (m *model) flush(keys int) {
	m.Helper()
	m.last++
	flushing(m, m.engine, m.last, func(f *Flush) error {
		for key := range m.changes(keys) {
			var err error
			switch m.random.IntN(12) {
			case 0, 1:
				delete(m.holds, key)
				err = f.Delete([]byte(key))
			case 2:
				m.holds[key] = strings.Repeat(key, (200<<10+m.random.IntN(1<<20))/len(key))
				err = f.Put([]byte(key), []byte(m.holds[key]))
			default:
				m.holds[key] = fmt.Sprint(key, " in flush ", m.last, strings.Repeat(".", m.random.IntN(3000)))
				err = f.Put([]byte(key), []byte(m.holds[key]))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// changes draws keys.
func (m *model) changes(n int) map[string]bool {
	keys := map[string]bool{}
	for range n {
		keys[fmt.Sprintf("key %04d", m.random.IntN(400))] = true
	}
	return keys
}

func (m *model) compare() {
	m.Helper()
	for _, reverse := range []bool{false, true} {
		got := content(m, m.engine, engine.ScanOptions{Reverse: reverse})
		if len(got) != len(m.holds) {
			m.Errorf("%d keys, want %d", len(got), len(m.holds))
		}
		for key, want := range m.holds {
			if got[key] != want {
				m.Fatalf("%s holds %.60q, want %.60q", key, got[key], want)
			}
		}
	}
	for range 50 {
		key := fmt.Sprintf("key %04d", m.random.IntN(400))
		if got := get(m, m.engine, key); got != m.holds[key] {
			m.Fatalf("%s holds %.60q, want %.60q", key, got, m.holds[key])
		}
	}
}

// full has the tests of this package do all that they can. CI sets it.
var full = os.Getenv("TEST_CQLD_FULL") != ""

// TestModel flushes random changes, of more than Badger's memtable takes, and compares what is there with a map: also
// in snapshots of before, when the folder is opened again, and in copies of it, which are what a kill leaves.
func TestModel(t *testing.T) {
	m := &model{TB: t, random: rand.New(rand.NewPCG(1, 2)), holds: map[string]string{}}
	m.engine = open(t, small(t, folderForTest(t)))
	flushes := 16
	if full {
		flushes = 40
	}
	for i := range flushes {
		m.flush(60)
		if i%5 == 0 {
			m.compare()
		}
		if i%8 == 7 {
			left := small(t, folderForTest(t))
			enginetest.CopyFolder(t, m.engine.o.Dir, left.Dir)
			if err := m.engine.Close(nil); err != nil {
				t.Fatal(err)
			}
			if i%16 == 7 {
				left.Dir = m.engine.o.Dir
			}
			m.engine = open(t, left)
			if got := m.engine.Flushed(); got != m.last {
				t.Errorf("flushed are %d commits, want %d", got, m.last)
			}
			m.compare()
		}
	}
	if err := m.engine.Compact(); err != nil {
		t.Fatal(err)
	}
	m.compare()
	m.wantNoGarbage()
	if err := m.engine.Close(nil); err != nil {
		t.Fatal(err)
	}
}

// wantNoGarbage wants the chunks of long values that are there, and no others.
func (m *model) wantNoGarbage() {
	m.Helper()
	want := 0
	for _, value := range m.holds {
		if n := m.engine.o.maxChunk(); len(value) > n {
			want += (len(value) + n - 1) / n
		}
	}
	s := m.engine.Snapshot()
	defer s.Release()
	x := scan{snapshot: s}
	x.Iterator = s.txn.NewIterator(iteratorOf(chunkPrefix))
	defer x.Close()
	got := 0
	for x.Rewind(); x.Valid(); x.Next() {
		got++
	}
	if got != want || want == 0 {
		m.Errorf("%d chunks, want %d", got, want)
	}
}

// TestSnapshotsOfBefore reads snapshots while their keys are overwritten and deleted, and tables are compacted.
func TestSnapshotsOfBefore(t *testing.T) {
	e := open(t, small(t, folderForTest(t)))
	defer e.Close(nil)
	long := bytes.Repeat([]byte("long"), 100_000)
	flushing(t, e, 1, func(f *Flush) error {
		return errors.Join(f.Put([]byte("a"), []byte("first")), f.Put([]byte("b"), long))
	})
	before := e.Snapshot()
	defer before.Release()
	for i := range uint64(5) {
		flushing(t, e, 2+i, func(f *Flush) error {
			return errors.Join(f.Put([]byte("a"), []byte("second")), f.Delete([]byte("b")),
				f.Put([]byte("filler"), bytes.Repeat([]byte("f"), 300_000)))
		})
	}
	if err := e.Compact(); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"a": "first", "b": string(long)} {
		found, err := before.Get([]byte(key), func(value []byte) error {
			if string(value) != want {
				t.Errorf("the snapshot shows %.20q for %s", value, key)
			}
			return nil
		})
		if !found || err != nil {
			t.Errorf("the snapshot shows nothing for %s: %v", key, err)
		}
	}
	if a, b := get(t, e, "a"), get(t, e, "b"); a != "second" || b != "" {
		t.Errorf("a holds %q, b holds %.20q", a, b)
	}
}

// TestUnfinishedFlush leaves a flush in the middle. Nothing of it is shown, and the commits before it are flushed.
func TestUnfinishedFlush(t *testing.T) {
	e := open(t, small(t, folderForTest(t)))
	flushing(t, e, 7, func(f *Flush) error { return f.Put([]byte("a"), []byte("first")) })
	f := e.BeginFlush(patient)
	for i := range 1000 {
		if err := errors.Join(f.Put(fmt.Appendf(nil, "a%d", i), bytes.Repeat([]byte("a"), 1000))); err != nil {
			t.Fatal(err)
		}
	}
	if f.parts < 3 {
		t.Fatalf("only %d transactions", f.parts)
	}
	f.Discard()
	if all := content(t, e, engine.ScanOptions{}); len(all) != 1 {
		t.Errorf("%d keys are shown", len(all))
	}
	e = reopen(t, e)
	defer e.Close(nil)
	if got := e.Flushed(); got != 7 {
		t.Errorf("flushed are %d commits", got)
	}
}

// TestNoValueLog writes values of all lengths around the limits: Badger's value log gets none, so none has to be
// collected, which would bring deleted ones back.
func TestNoValueLog(t *testing.T) {
	e := open(t, Options{Dir: folderForTest(t), MemTable: 8 << 20, Log: zerolog.Nop()})
	defer e.Close(nil)
	n := e.o.maxChunk()
	want := map[string]string{}
	flushing(t, e, 1, func(f *Flush) (err error) {
		for i, length := range []int{1, n - trailer, n - 1, n, n + 1, 819 << 10, 2*n - 1, 2 * n, 2*n + 1, 1 << 20, 16 << 20} {
			key := fmt.Sprint(i)
			want[key] = strings.Repeat("v", length)
			err = errors.Join(err, f.Put([]byte(key), []byte(want[key])))
		}
		return err
	})
	for key, value := range want {
		if got := get(t, e, key); got != value {
			t.Errorf("a value of %d bytes has %d", len(value), len(got))
		}
	}
	logs, err := filepath.Glob(filepath.Join(e.o.Dir, "*.vlog"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("value logs: %v, %v", logs, err)
	}
	b, err := os.ReadFile(logs[0])
	if err != nil || len(bytes.Trim(b[20:], "\x00")) > 0 {
		t.Errorf("the value log has something: %v", err)
	}
}
