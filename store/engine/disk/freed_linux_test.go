package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/badger"
)

// bounded are options for a folder on a disk of so many bytes, of which its files take some.
func bounded(t *testing.T, size int64) Options {
	o := Options{
		Dir: folder(t), Memtable: 4 << 20, segment: 1 << 20, below: badger.Options{MemTable: 1 << 20}, Log: zerolog.Nop(),
		maxWait: patience, SyncEvery: 50 * time.Millisecond,
	}
	o.below.Free = func(dir string) (int64, error) { return size - usedBytes(dir), nil }
	o.below.Volume = func(string) (int64, error) { return size, nil }
	return o
}

// usedBytes is how much the files of a folder take. Files that Badger maps are longer than what they take.
func usedBytes(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil {
			if info, err := entry.Info(); err == nil {
				n += info.Sys().(*syscall.Stat_t).Blocks * 512
			}
		}
		return nil // files go meanwhile
	})
	return n
}

// fillDisk writes rows of a table until they are refused, but at least some: space that was deleted before is freed
// when it is needed.
func fillDisk(t *testing.T, e *Engine, table string, atLeast int) (rows int) {
	t.Helper()
	blob := bytes.Repeat([]byte("b"), 50_000)
	full := false
	until(t, "the disk takes as many rows as it has room for", func() bool {
		for full = false; !full; {
			err := commit(e, engine.Op{Kind: engine.Put, Key: fmt.Appendf(nil, "%s %06d", table, rows), Value: blob})
			if full = errors.Is(err, engine.ErrFull); err == nil {
				rows++
			} else if !full {
				t.Fatal(err)
			}
		}
		return rows >= atLeast
	})
	return rows
}

// TestFullDiskIsFreed fills a disk until writes are refused, and removes the rows, as TRUNCATE does or one by one: the
// space is free within seconds, without a restart, and another table takes as many rows.
func TestFullDiskIsFreed(t *testing.T) {
	const size = 50 << 20
	for _, way := range []string{"drop", "delete"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			e := open(t, bounded(t, size))
			for round := range 2 {
				table := fmt.Sprintf("%04d", round)
				must(t, e, engine.Put, "kept "+table, "v")
				rows := fillDisk(t, e, table, size/8/50_000)
				if round == 1 { // a restart neither frees it nor makes it worse
					if err := e.Close(); err != nil {
						t.Fatal(err)
					}
					e = open(t, e.o)
				}
				began := time.Now()
				if way == "drop" {
					if err := e.Drop(t.Context(), [][]byte{[]byte(table + " ")}); err != nil {
						t.Fatal(err)
					}
					if err := e.DeleteRange([]byte(table+" "), []byte(table+"!")); err != nil {
						t.Fatal(err)
					}
				} else {
					for i := range rows {
						must(t, e, engine.Delete, fmt.Sprintf("%s %06d", table, i), "")
					}
				}
				until(t, "the space is free", func() bool {
					return e.Refusing() == nil && (usedBytes(e.o.Dir) < size/4 || way == "delete" && round == 1)
				})
				t.Logf("round %d: %d rows are gone after %v", round, rows, time.Since(began))
				for i := range round + 1 {
					if !has(t, e, fmt.Sprintf("kept %04d", i)) {
						t.Errorf("round %d: a row of another table is lost", round)
					}
				}
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestDropWaitsForViews drops the rows of a table while a view is open that shows them to the end.
func TestDropWaitsForViews(t *testing.T) {
	e := open(t, tiny(t, folder(t), Periodic))
	defer e.Close()
	for i := range 500 {
		must(t, e, engine.Put, fmt.Sprintf("table %03d", i), "value")
	}
	flush(e)
	dropped := make(chan error, 1)
	err := e.View(func(r engine.Reader) error {
		go func() { dropped <- e.Drop(t.Context(), [][]byte{[]byte("table ")}) }()
		for range 20 {
			n := 0
			err := r.Scan([]byte("table "), []byte("table!"), engine.ScanOptions{}, func(_, _ []byte) (bool, error) {
				n++
				return true, nil
			})
			if err != nil || n != 500 {
				return fmt.Errorf("the view shows %d rows, %v", n, err)
			}
			time.Sleep(time.Millisecond)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := <-dropped; err != nil {
		t.Error(err)
	}
	if has(t, e, "table 007") {
		t.Error("the row is there when the view has ended")
	}
}

// TestRefusedInTime has a commit wait for a flush that does not end: it is refused before a client's time is over, as
// one that may be tried again, and nothing of it is there.
func TestRefusedInTime(t *testing.T) {
	var d disk
	o := d.options(t)
	o.maxWait = 0
	o.Memtable = 16 << 10
	e := open(t, o)
	defer e.Close()
	if e.o.maxWait >= 2*time.Second {
		t.Errorf("a commit waits for %v, and a client for two seconds", e.o.maxWait)
	}
	e.o.maxWait = 50 * time.Millisecond
	d.free.Store(0)
	until(t, "writes are refused", func() bool { return e.Refusing() != nil })
	var err error
	i := 0
	for ; err == nil; i++ { // deletes are taken until memtables are full
		err = commit(e, engine.Op{Kind: engine.Delete, Key: fmt.Appendf(nil, "row %06d", i)})
	}
	if !errors.Is(err, engine.ErrBehind) || !errors.Is(err, engine.ErrRefused) || i < 100 {
		t.Errorf("commit %d: %v", i, err)
	}
	d.free.Store(1 << 40)
}
