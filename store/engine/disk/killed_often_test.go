package disk

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// TestKilledOften kills an engine again and again before it has written a memtable. The log does not grow with that.
func TestKilledOften(t *testing.T) {
	const kills = 20
	o := tiny(t, folder(t), Periodic)
	o.Memtable, o.segment = 1<<20, 16<<10
	key := func(i int) []byte { return fmt.Appendf(nil, "key%d", i) }
	for i := range kills {
		e := open(t, o)
		if err := commit(e, engine.Op{Kind: engine.Put, Key: key(i), Value: key(i)}); err != nil {
			t.Fatal(err)
		}
		left := copyFolder(t, o.Dir)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		o.Dir = left
	}
	e := open(t, o)
	for e.flushes.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	left := copyFolder(t, o.Dir) // a last time: until then the flush is in a memtable of Badger's
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	o.Dir = left
	e = open(t, o)
	defer e.Close()
	for i := range kills {
		found, err := e.Get(key(i), func([]byte) error { return nil })
		if err != nil || !found {
			t.Errorf("after %d kills commit %d is %v, %v", kills, i, found, err)
		}
	}
	const most = maxReplayed + 2 // with the one in use and the next one
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		logs, err := filepath.Glob(filepath.Join(o.Dir, "*.log"))
		if err != nil {
			t.Fatal(err)
		}
		if len(logs) <= most {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after %d kills there are %d segments, want %d at most", kills, len(logs), most)
		}
	}
}
