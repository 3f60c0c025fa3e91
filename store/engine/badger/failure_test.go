package badger

import (
	"errors"
	"strings"
	"testing"
)

// TestSyncFails lets the disk fail: what was written can be read, and nothing more is written.
func TestSyncFails(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	if err := numbered(e, 0, 8); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the disk is broken")
	e.syncing.Lock()
	e.logs.sync = func(string) error { return broken }
	e.syncing.Unlock()
	if err := e.Sync(); !errors.Is(err, broken) {
		t.Errorf("sync answers %v", err)
	}
	if err := numbered(e, 1, 8); !errors.Is(err, broken) || !strings.Contains(err.Error(), "no more writes") {
		t.Errorf("a write answers %v", err)
	}
	if found, err := readNumbered(e); err != nil || len(found) != 1 {
		t.Errorf("reads have %v, error %v", found, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	expectFirst(t, dir, 1)
}
