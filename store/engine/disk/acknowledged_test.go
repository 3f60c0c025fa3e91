package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/disk/commitlog"
	"github.com/cqld/cqld/store/engine/enginetest"
	"github.com/cqld/cqld/store/engine/files"
)

// has reports whether a key has a value.
func has(t testing.TB, e *Engine, key string) bool {
	t.Helper()
	found, err := e.Get([]byte(key), func([]byte) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// forgeRecord makes a record of the commit log, as a client can put it into a value.
func forgeRecord(segment, seq uint64, key, value string) []byte {
	b := append(make([]byte, 16), 1, byte(engine.Put), byte(len(key)))
	b = append(append(append(b, key...), byte(len(value))), value...)
	binary.LittleEndian.PutUint64(b[8:], seq)
	binary.LittleEndian.PutUint32(b, uint32(len(b)-16))
	sum := files.Checksum(b[8:]) ^ uint32(segment*0x9e3779b97f4a7c15>>32) ^ uint32(len(b)-16)
	binary.LittleEndian.PutUint32(b[4:], sum)
	return b
}

// TestForgedCommit has a client's value contain records of the log. When the log is damaged and repaired, none of them
// becomes a commit: the repair keeps the commits before and after the damaged one.
func TestForgedCommit(t *testing.T) {
	dir := folder(t)
	e := open(t, damagedLog(dir, &strings.Builder{}))
	must(t, e, engine.Put, "before", "v")
	blob := []byte("a picture, says the client ")
	for segment := range uint64(50) {
		for seq := range uint64(10) {
			blob = append(blob, forgeRecord(segment, seq, "admin", "set by a client")...)
		}
		blob = append(blob, forgeRecord(segment, 1_000_000, "admin", "set by a client")...)
	}
	must(t, e, engine.Put, "blob", string(blob))
	must(t, e, engine.Put, "after", "v")
	if err := e.Sync(); err != nil {
		t.Fatal(err)
	}
	killed := copyFolder(t, dir)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(killed, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	damaged := false
	for _, path := range logs {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.Index(b, []byte("a picture")); i >= 0 {
			b[i] ^= 1
			damaged = true
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	log := &strings.Builder{}
	o := damagedLog(killed, log)
	if _, err := Open(o, enginetest.Union); !damaged || !errors.Is(err, ErrDamaged) {
		t.Fatalf("the damaged folder is opened: %v", err)
	}
	o.Repair = true
	e = open(t, o)
	defer e.Close()
	if !has(t, e, "before") || has(t, e, "blob") || !has(t, e, "after") || has(t, e, "admin") {
		t.Errorf("before: %t, blob: %t, after: %t, forged: %t", has(t, e, "before"), has(t, e, "blob"),
			has(t, e, "after"), has(t, e, "admin"))
	}
	if !strings.Contains(log.String(), files.QuarantineFolder) {
		t.Errorf("the repair does not tell where the rest is: %s", log)
	}
}

// TestLateSync has a sync of the log take long: commits wait, because a power cut would take too many.
func TestLateSync(t *testing.T) {
	var slow atomic.Bool
	release := make(chan struct{})
	o := Options{Dir: folder(t), SyncEvery: time.Millisecond, Log: zerolog.Nop(), syncFile: func(f *os.File) error {
		if slow.Load() {
			<-release
		}
		return f.Sync()
	}}
	e := open(t, o)
	slow.Store(true)
	var acknowledged atomic.Int64
	var stop atomic.Bool
	var writing sync.WaitGroup
	writing.Go(func() {
		for !stop.Load() {
			if err := commit(e, engine.Op{Kind: engine.Put, Key: []byte("a"), Value: []byte("1")}); err != nil {
				t.Error(err)
			}
			acknowledged.Add(1)
		}
	})
	var before int64
	until(t, "no commit is acknowledged", func() bool {
		time.Sleep(50 * time.Millisecond)
		was := before
		before = acknowledged.Load()
		return was == before && before > 0 && e.waits.Load() > 0
	})
	slow.Store(false)
	close(release)
	until(t, "commits are acknowledged again", func() bool { return acknowledged.Load() > before })
	stop.Store(true)
	writing.Wait()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFailedSync has a sync of the log fail once, as it does when the disk did not take pages: the system reports that
// once, and the next sync succeeds. Nothing is acknowledged from there on, nothing is noted as synced, and what was
// acknowledged is there when the folder is opened again.
func TestFailedSync(t *testing.T) {
	var fails atomic.Bool
	o := Options{Dir: folder(t), Sync: Batch, Log: zerolog.Nop(), syncFile: func(f *os.File) error {
		if fails.Swap(false) {
			return errors.New("input/output error")
		}
		return f.Sync()
	}}
	e := open(t, o)
	must(t, e, engine.Put, "a", "1")
	fails.Store(true)
	if err := commit(e, engine.Op{Key: []byte("b"), Value: []byte("2")}); !errors.Is(err, engine.ErrUnknown) {
		t.Errorf("a commit that is not synced: %v", err)
	}
	if err := commit(e, engine.Op{Key: []byte("c"), Value: []byte("3")}); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("a commit after a failed sync: %v", err)
	}
	synced := func() uint64 {
		b, err := os.ReadFile(filepath.Join(o.Dir, "LOGGED"))
		if err != nil {
			t.Fatal(err)
		}
		return binary.NativeEndian.Uint64(b[8:]) >> 16
	}
	before := synced()
	if err := e.Sync(); err == nil {
		t.Error("a sync after a failed one succeeds")
	}
	if err := e.log.Sync(); err == nil {
		t.Error("a sync of the log after a failed one succeeds")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if after := synced(); after != before || after != 1 {
		t.Errorf("%d commits are noted as synced, then %d", before, after)
	}
	e = open(t, o)
	defer e.Close()
	if !has(t, e, "a") || has(t, e, "c") {
		t.Errorf("opened again: a %t, c %t", has(t, e, "a"), has(t, e, "c"))
	}
}

// TestReadErrorInFlush has a value in tables damaged when a delta is to be folded into it. The delta stays: it is not
// flushed, the folder refuses writes, and the log keeps what was acknowledged.
func TestReadErrorInFlush(t *testing.T) {
	o := tiny(t, folder(t), Periodic)
	e := open(t, o)
	must(t, e, engine.Put, "key", "anoldvalue")
	if err := e.Close(); err != nil { // so that the value is in a table
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(o.Dir, "*.sst"))
	if err != nil || len(tables) != 1 {
		t.Fatalf("tables %v, %v", tables, err)
	}
	e = open(t, o) // which finds the table sound
	b, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(tables[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("X"), int64(bytes.Index(b, []byte("anoldvalue")))); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	must(t, e, engine.Merge, "key", "delta")
	e.FlushSoon()
	for e.Refusing() == nil {
		time.Sleep(time.Millisecond)
	}
	if err := e.Refusing(); !errors.Is(err, ErrDamaged) {
		t.Errorf("writes are refused because %v", err)
	}
	if n := e.flushes.Load(); n != 0 {
		t.Errorf("%d flushes", n)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	x, err := commitlog.Examine(o.Dir, true)
	if err != nil {
		t.Fatal(err)
	}
	x.Continue(1)
	kept := false
	if err := x.Replay(func(_ uint64, ops []engine.Op) error {
		kept = kept || string(ops[0].Value) == "delta"
		return nil
	}); err != nil || !kept {
		t.Errorf("the log has the delta: %t, %v", kept, err)
	}
}
