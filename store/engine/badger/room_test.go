package badger

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
	"github.com/cqld/cqld/store/engine/files"
)

// TestNoRoom lets the disk be full and have room again.
func TestNoRoom(t *testing.T) {
	var free atomic.Int64
	free.Store(1 << 40)
	o := Options{Dir: t.TempDir(), free: func(string) (int64, error) { return free.Load(), nil }}
	e := openWith(t, o, enginetest.Union)
	if err := numbered(e, 1, 800); err != nil {
		t.Fatal(err)
	}
	free.Store(reservedMemtables*smallMemTable + 100)
	written := 1
	var err error
	for ; err == nil; written++ {
		if written*800 > 2*roomStep {
			t.Fatal("a full disk takes commits")
		}
		err = numbered(e, written+1, 800)
	}
	if !errors.Is(err, engine.ErrFull) || !strings.Contains(err.Error(), o.Dir) ||
		!strings.Contains(err.Error(), "64 MiB are free") {
		t.Errorf("a full disk answers %v", err)
	}
	if found, err := readNumbered(e); err != nil || len(found) != written-1 {
		t.Errorf("there are %d values, and should be %d; error %v", len(found), written-1, err)
	}
	free.Store(1 << 40)
	if err := numbered(e, written, 800); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	free.Store(smallMemTable)
	if _, err := Open(Options{Dir: o.Dir, MemTableSize: smallMemTable, free: o.free}, enginetest.Union); err == nil ||
		!strings.Contains(err.Error(), "too little room") {
		t.Errorf("open on a full disk: %v", err)
	}
}

// TestReserve refuses commits while a share of the volume is not free, reads meanwhile, and takes commits again when it
// is. What a commit in front of the engine left behind is written all the same.
func TestReserve(t *testing.T) {
	var free atomic.Int64
	free.Store(100 << 30)
	e := openWith(t, Options{
		Dir: t.TempDir(), Reserve: files.Reserve{Percent: 5},
		free:   func(string) (int64, error) { return free.Load(), nil },
		volume: func(string) (int64, error) { return 200 << 30, nil },
	}, enginetest.Union)
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := numbered(e, 1, 800); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		free.Store(10<<30 - 1)
		waitFor(t, "commits are refused", func() bool { return e.Refusing() != nil })
		want := "10239 MiB are free in the folder"
		if err := e.Refusing(); !errors.Is(err, engine.ErrFull) || !strings.Contains(err.Error(), want) {
			t.Errorf("refused with %v", err)
		}
		if found, err := readNumbered(e); err != nil || len(found) == 0 {
			t.Errorf("%d values are read, error %v", len(found), err)
		}
		if err := numbered(e, 2, 800); err != nil {
			t.Errorf("what comes from the front: %v", err)
		}
		free.Store(10<<30 + 2*roomStep)
		waitFor(t, "commits are taken again", func() bool { return e.Refusing() == nil })
	}
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// TestReserveOf has shares and bytes of volumes of all sizes.
func TestReserveOf(t *testing.T) {
	for _, test := range []struct {
		reserve      files.Reserve
		volume, want int64
	}{
		{files.Reserve{}, 1 << 40, 0},
		{files.Reserve{Bytes: 5 << 30}, 1 << 30, 5 << 30},
		{files.Reserve{Percent: 2, Most: 4 << 30}, 100 << 30, 2 << 30},
		{files.Reserve{Percent: 2, Most: 4 << 30}, 1 << 40, 4 << 30},
		{files.Reserve{Percent: 50}, 1 << 40, 1 << 39},
		{files.Reserve{Percent: 2, Most: 4 << 30}, 0, 0}, // nobody knows
	} {
		if got := test.reserve.Of(test.volume); got != test.want {
			t.Errorf("%+v of %d is %d, want %d", test.reserve, test.volume, got, test.want)
		}
	}
}

// TestFullDisk fills a small file system.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=120m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("mounting a small file system needs root on Linux: %s", out)
	}
	defer func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %s", out)
		}
	}()
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, make([]byte, 20<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	e := openWith(t, Options{Dir: filepath.Join(dir, "data")}, enginetest.Union)
	fill := func(from int) (n int) {
		for n = from; n < from+20000; n++ {
			if err := numbered(e, n, 8000); err != nil {
				if !errors.Is(err, engine.ErrFull) {
					t.Errorf("commit %d: %v", n, err)
				}
				return n
			}
		}
		t.Error("the disk is never full")
		return n
	}
	check := func(n int) {
		t.Helper()
		if found, err := readNumbered(e); err != nil || len(found) != n {
			t.Errorf("there are %d values, and should be %d; error %v", len(found), n, err)
		}
	}
	n := fill(0)
	check(n)
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	m := fill(n)
	if m < n+1000 {
		t.Errorf("with 20 MiB more there are only %d more commits", m-n)
	}
	check(m)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openWith(t, Options{Dir: filepath.Join(dir, "data")}, enginetest.Union)
	check(m)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
