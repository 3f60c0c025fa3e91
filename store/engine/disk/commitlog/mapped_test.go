package commitlog

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/files"
)

// newLog makes a log in a new folder.
func newLog(t *testing.T, dir string, o Options) *Log {
	t.Helper()
	x, err := Examine(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	l, err := x.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func put(bytes int) []engine.Op {
	return []engine.Op{{Kind: engine.Put, Key: []byte("k"), Value: slices.Repeat([]byte("v"), bytes)}}
}

// wantRecords wants a log to be sound, and to have so many records.
func wantRecords(t *testing.T, dir string, want int) {
	t.Helper()
	x, err := Examine(dir, true)
	if err != nil || len(x.Damages) > 0 {
		t.Fatalf("%+v, %v", x, err)
	}
	records := 0
	err = x.Replay(func(uint64, []engine.Op) error { records++; return nil })
	if err != nil || records != want {
		t.Errorf("%d records, want %d (%v)", records, want, err)
	}
}

// TestMapped appends records of all lengths to a log that is mapped and to one that is written: the files are equal,
// at once and when the log was closed and synced, and nothing but records is in them.
func TestMapped(t *testing.T) {
	written, mapped := t.TempDir(), t.TempDir()
	logs := map[string]*Log{
		written: newLog(t, written, Options{SegmentSize: 600_000}),
		mapped:  newLog(t, mapped, Options{SegmentSize: 600_000, Mapped: true}),
	}
	if l := logs[mapped]; files.MappedWrites && l.spare.mapped == nil {
		t.Fatal("the log is not mapped")
	}
	equal := func(when string) {
		t.Helper()
		names, err := filepath.Glob(filepath.Join(written, "*"+segmentSuffix))
		if err != nil || len(names) == 0 {
			t.Fatalf("%d segments, %v", len(names), err)
		}
		for _, name := range names {
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join(mapped, filepath.Base(name)))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %s differs, %v", when, filepath.Base(name), err)
			}
		}
	}
	for i, n := range []int{
		0, 1, 100, 4096, 5000, preparedBytes - 100, preparedBytes, 17,
		preparedBytes + 1, 3 * preparedBytes, 20, 700_000, 21, 599_900, 9,
		1000, 200_000, 200_000, 200_000, 12, 13,
	} {
		for _, l := range logs {
			if !l.Ready(put(n)) {
				if err := l.Prepare(nil); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := l.Append(put(n)); err != nil {
				t.Fatalf("record %d of %d bytes: %v", i, n, err)
			}
		}
		equal("appended")
	}
	for _, l := range logs {
		if err := l.Prepare(nil); err != nil {
			t.Fatal(err)
		}
		for _, s := range l.full {
			if s.mapped != nil {
				t.Error("a full segment has its memory")
			}
		}
		if err := l.Sync(); err != nil {
			t.Error(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	equal("closed")
	wantRecords(t, mapped, 21)
}
