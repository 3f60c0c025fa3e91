package badger

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine/files"
)

// TestWatchPanics panics when the free space is checked: that is logged, and the next check counts again.
func TestWatchPanics(t *testing.T) {
	var armed atomic.Bool
	var checks atomic.Int64
	lines := make(chan string, 100)
	free := func(dir string) (int64, error) {
		if armed.Load() {
			panic("planted")
		}
		checks.Add(1)
		return files.FreeBytes(dir)
	}
	e, err := Open(Options{Dir: t.TempDir(), MemTable: 1 << 20, Log: zerolog.New(logged(lines)), Free: free})
	if err != nil {
		t.Fatal(err)
	}
	armed.Store(true)
	for line := range lines {
		if strings.Contains(line, "cannot check the free space") && strings.Contains(line, "planted") {
			break
		}
	}
	armed.Store(false)
	for before := checks.Load(); checks.Load() == before; {
		time.Sleep(time.Millisecond)
	}
	if err := e.Close(nil); err != nil {
		t.Error(err)
	}
}

// logged is a log whose lines are received.
type logged chan string

func (l logged) Write(line []byte) (int, error) {
	select {
	case l <- string(line):
	default:
	}
	return len(line), nil
}
