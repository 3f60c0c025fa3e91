package badger

import (
	"errors"
	"strings"
	"testing"

	"github.com/cqld/cqld/store/engine/enginetest"
)

// TestSyncFails lets the disk fail: what was acknowledged can be read, and nothing more is written.
func TestSyncFails(t *testing.T) {
	for name, sync := range map[string]Sync{"periodic": Periodic, "batch": Batch} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			e := openWith(t, Options{Dir: dir, Sync: sync}, enginetest.Union)
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
				t.Errorf("a commit answers %v", err)
			}
			if found, err := readNumbered(e); err != nil || len(found) != 1 {
				t.Errorf("reads have %v, error %v", found, err)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			expectFirst(t, dir, sync, 1)
		})
	}
}
