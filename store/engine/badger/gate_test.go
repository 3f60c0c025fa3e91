package badger

import (
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/files"
)

// enoughToMerge is how many numbers make as many tables as the first level takes.
const enoughToMerge = 40000

// closeGate closes the gate of an empty engine, and writes numbers until tables wait at it to be merged.
func closeGate(t *testing.T, e *Engine) (open func()) {
	t.Helper()
	var closed atomic.Bool
	var asked atomic.Int64
	closed.Store(true)
	e.gate.free = func(dir string) (int64, error) {
		asked.Add(1)
		if closed.Load() {
			return 0, nil
		}
		return files.FreeBytes(dir)
	}
	writeTiny(t, e, 0, enoughToMerge)
	waitFor(t, "tables are merged", func() bool { return asked.Load() >= 2 })
	return func() { closed.Store(false) }
}

// TestGate closes the gate: no tables are merged until it is open again. It fails if Badger does not say any more
// what it is about to do.
func TestGate(t *testing.T) {
	dir := t.TempDir()
	e, _, err := openTiny(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	const count = enoughToMerge
	open := closeGate(t, e)
	if found, err := readNumbered(e); err != nil || len(found) != count {
		t.Errorf("%d of %d can be read, error %v", len(found), count, err)
	}
	open()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e, log, err := openTiny(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	if found := readAndClose(t, e); len(found) != count || log.Len() > 0 {
		t.Errorf("%d of %d are there, log %s", len(found), count, log)
	}
}

// TestCloseWithin closes while tables are merged, and leaves that. The folder has everything, as after a kill.
func TestCloseWithin(t *testing.T) {
	dir := t.TempDir()
	e, log, err := openTiny(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	e.closeWithin = 10 * time.Millisecond
	const count = enoughToMerge
	open := closeGate(t, e)
	if err := e.Close(); err != nil || !strings.Contains(log.String(), "begins anew at the next start") {
		t.Errorf("closed with %v, log %s", err, log)
	}
	left, _, err := openTiny(copyFolder(t, dir), false)
	if err != nil {
		t.Fatal(err)
	}
	if found := readAndClose(t, left); len(found) != count {
		t.Errorf("%d of %d are there", len(found), count)
	}
	open()
	waitFor(t, "the folder is closed", func() bool {
		again, _, err := openTiny(dir, false)
		return err == nil && len(readAndClose(t, again)) == count
	})
}

// TestGateRefuses has no folder to be opened, as when no descriptor is left: what the engine says then is a refusal.
func TestGateRefuses(t *testing.T) {
	dir := t.TempDir()
	e, _, err := openTiny(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	free := e.gate.free
	e.gate.free = func(string) (int64, error) { return free(dir) }
	e.gate.dir = filepath.Join(dir, "gone")
	if err := e.gate.check(); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("the gate says %v", err)
	}
	e.gate.dir = dir
	if err := e.gate.check(); err != nil {
		t.Errorf("the gate says %v when the folder can be opened", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
