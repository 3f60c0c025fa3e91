package badger

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

const rotKeys = 2000

func rotKey(i int) string   { return fmt.Sprintf("key-%05d-key", i) }
func rotValue(i int) string { return fmt.Sprintf("value-%05d-end", i) }

// rotFolder makes a folder with one table, which has rotKeys keys, and returns the table's path.
func rotFolder(t *testing.T) (dir, table string) {
	t.Helper()
	dir = folderForTest(t)
	e := open(t, small(t, dir))
	flushing(t, e, 1, func(f *Flush) (err error) {
		for i := range rotKeys {
			err = errors.Join(err, f.Put([]byte(rotKey(i)), []byte(rotValue(i))))
		}
		return err
	})
	if err := e.Close(nil); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*"+tableSuffix))
	if err != nil || len(tables) != 1 {
		t.Fatalf("tables %v, %v", tables, err)
	}
	return dir, tables[0]
}

// flip changes a bit of a file.
func flip(t *testing.T, path string, at int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, int64(at)); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1
	if _, err := f.WriteAt(b, int64(at)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRotWhileOpen changes a bit of a value in a table that is open: it is never served, not when compactions have
// written it to another table either.
func TestRotWhileOpen(t *testing.T) {
	dir, table := rotFolder(t)
	for name, compact := range map[string]bool{"at once": false, "compacted": true} {
		t.Run(name, func(t *testing.T) {
			o := small(t, folderForTest(t))
			enginetest.CopyFolder(t, dir, o.Dir)
			o.still = true
			e := open(t, o)
			path := filepath.Join(o.Dir, filepath.Base(table))
			flip(t, path, bytes.Index(read(t, path), []byte(rotValue(1234))))
			if compact {
				flushing(t, e, 2, func(f *Flush) error { return f.Put([]byte("key"), []byte("another")) })
				if err := e.Compact(); err != nil {
					t.Fatal(err)
				}
				e = reopen(t, e)
			}
			defer e.Close(nil)
			s := e.Snapshot()
			defer s.Release()
			_, err := s.Get([]byte(rotKey(1234)), func(value []byte) error {
				t.Errorf("served: %s", value)
				return nil
			})
			if !errors.Is(err, ErrDamaged) || e.Damage() == nil || e.Refusing(false) == nil {
				t.Errorf("read: %v, damage: %v, writes: %v", err, e.Damage(), e.Refusing(false))
			}
		})
	}
}

// TestRotIsFound changes a bit of each kind of a table's bytes, and looks that the folder is refused, or the scrub
// finds it, and that nothing but what was written is served. Repaired, the folder has the rows of all blocks but one,
// and of all blocks if the index is damaged.
func TestRotIsFound(t *testing.T) {
	dir, table := rotFolder(t)
	b := read(t, table)
	value, key := bytes.Index(b, []byte(rotValue(777))), 0
	key = value - 12 + bytes.Index(b[value-12:], []byte("-key"))
	index := bytes.LastIndex(b, []byte(rotKey(0)[:4]))
	places := map[string]int{
		"a value": value, "a key": key, "the head of an entry": value - 5, "the end of a block": 4096 + 40,
		"the index":                 index,
		"the checksum of the index": len(b) - 8, "the footer": len(b) - 1, "the length of the index": len(b) - 20,
	}
	for at := 0; at < len(b); at += len(b) / 40 {
		places[fmt.Sprint("byte ", at)] = at
	}
	for what, at := range places {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			o := small(t, folderForTest(t))
			enginetest.CopyFolder(t, dir, o.Dir)
			flip(t, filepath.Join(o.Dir, filepath.Base(table)), at)
			damages, err := Examine(o.Dir, func(string, int, int) {})
			if err != nil || len(damages) != 1 || damages[0].Name != filepath.Base(table) {
				t.Fatalf("examined: %v, %v", damages, err)
			}
			if e, err := Open(o); err == nil {
				if err := e.scrub(); !errors.Is(err, ErrDamaged) {
					t.Errorf("the scrub finds %v", err)
				}
				if err := e.Close(nil); err != nil {
					t.Fatal(err)
				}
			} else if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), table[len(dir):]) {
				t.Errorf("the refusal is %v", err)
			}
			o.Repair = true
			e := open(t, o)
			defer e.Close(nil)
			wantMost(t, content(t, e, engine.ScanOptions{}), o.Dir, at < index)
		})
	}
}

// TestRepairParts damages the block of a table that has a part of the last flush, and not its marker. Without it the
// folder would lack a part of the flush, after each repair too.
func TestRepairParts(t *testing.T) {
	dir := folderForTest(t)
	e := open(t, small(t, dir))
	key := func(i int) []byte { return fmt.Appendf(nil, "key-%0300d", i) }
	flushing(t, e, 1, func(f *Flush) (err error) {
		for i := range 40 {
			err = errors.Join(err, f.Put(key(i), bytes.Repeat([]byte{byte(i)}, 110<<10)))
		}
		return err
	})
	if err := e.Close(nil); err != nil {
		t.Fatal(err)
	}
	for _, table := range mustGlob(t, filepath.Join(dir, "*"+tableSuffix)) {
		if at := bytes.Index(read(t, table), []byte("part!")); at >= 0 {
			flip(t, table, at)
			break // the last table has the marker
		}
	}
	for _, repair := range []bool{true, false, true} {
		o := small(t, dir)
		o.Repair = repair
		e := open(t, o)
		if n := len(content(t, e, engine.ScanOptions{})); n < 38 || e.Flushed() != 0 {
			t.Errorf("repair %t: %d values are left, and the commits up to %d are in tables", repair, n, e.Flushed())
		}
		if err := e.Close(nil); err != nil {
			t.Fatal(err)
		}
	}
}

// mustGlob are the files like a pattern.
func mustGlob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found
}

// TestZeroedIndex fills the second half of a table with zeros: a repair has the rows of the first half, in a moment.
func TestZeroedIndex(t *testing.T) {
	dir, table := rotFolder(t)
	b := append(read(t, table), make([]byte, 4<<20)...)
	half := bytes.Index(b, []byte(rotValue(rotKeys/2)))
	clear(b[half:])
	if err := os.WriteFile(table, b, 0o600); err != nil {
		t.Fatal(err)
	}
	o := small(t, dir)
	o.Repair = true
	e := open(t, o)
	defer e.Close(nil)
	if n := len(content(t, e, engine.ScanOptions{})); n < rotKeys/2-200 || n > rotKeys/2 {
		t.Errorf("%d rows are left of %d", n, rotKeys/2)
	}
	noted, err := ReadRepair(dir)
	if err != nil || len(noted.Losses) != 1 || len(noted.Losses[0].Ranges) != 1 || noted.Losses[0].Entries >= 0 {
		t.Fatalf("noted is %+v, %v", noted, err)
	}
	if start := noted.Losses[0].Ranges[0].Start; !bytes.HasPrefix(start, []byte("key-00")) {
		t.Errorf("the rows after %q are lost", start)
	}
}

// wantMost wants all rows but those of one block, if a block is damaged, and that the repair has counted the others.
func wantMost(t *testing.T, all map[string]string, dir string, blockIsLost bool) {
	t.Helper()
	noted, err := ReadRepair(dir)
	if err != nil || noted == nil {
		t.Fatalf("the repair has noted nothing: %v", err)
	}
	for _, l := range noted.Losses {
		if l.Entries > 0 {
			t.Logf("%s: %s, %d entries of %q", l.File, l.What, l.Entries, l.Ranges)
		}
		if counted, missing := l.Entries, rotKeys-len(all); counted < missing && counted >= 0 {
			t.Errorf("%d entries are missing, and %d are counted", missing, counted)
		}
	}
	if lost := len(noted.Losses) > 0; lost && !blockIsLost && noted.Losses[0].Entries > 0 || !lost && len(all) < rotKeys {
		t.Errorf("of %d rows %d are left, and noted is %+v", rotKeys, len(all), noted)
	}
	if !blockIsLost && len(all) < rotKeys {
		t.Errorf("the index is damaged, and %d rows of %d are left", len(all), rotKeys)
	}
	for key, value := range all {
		var i int
		if _, err := fmt.Sscanf(key, "key-%05d-key", &i); err != nil || value != rotValue(i) {
			t.Errorf("%q holds %q", key, value)
		}
	}
	if n := len(all); n < rotKeys-200 {
		t.Errorf("only %d of %d rows are left", n, rotKeys)
	}
}

// TestDamagedFiles removes, cuts and empties each file of a folder that has a table and a memtable: it is refused with
// the name of the file and not changed, or opens with all rows. Repaired, it opens.
func TestDamagedFiles(t *testing.T) {
	e := open(t, small(t, folderForTest(t)))
	for last := range uint64(3) {
		flushing(t, e, last+1, func(f *Flush) (err error) {
			for i := range rotKeys {
				err = errors.Join(err, f.Put([]byte(rotKey(i)), append([]byte(rotValue(i)), make([]byte, 200)...)))
			}
			return err
		})
	}
	image := folderForTest(t)
	enginetest.CopyFolder(t, e.o.Dir, image)
	if err := e.Close(nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range enginetest.FilesIn(t, image) {
		end := len(bytes.TrimRight(read(t, filepath.Join(image, name)), "\x00"))
		for what, change := range map[string]func(path string) error{
			"removed":    os.Remove,
			"cut to 0":   func(path string) error { return os.Truncate(path, 0) },
			"halved":     func(path string) error { return os.Truncate(path, int64(end/2)) },
			"cut by one": func(path string) error { return os.Truncate(path, int64(end-1)) },
		} {
			if end == 0 {
				continue
			}
			t.Run(name+" "+what, func(t *testing.T) {
				t.Parallel()
				o := small(t, folderForTest(t))
				enginetest.CopyFolder(t, image, o.Dir)
				if err := change(filepath.Join(o.Dir, name)); err != nil {
					t.Fatal(err)
				}
				tryDamaged(t, o, name)
			})
		}
	}
}

func tryDamaged(t *testing.T, o Options, name string) {
	before := enginetest.FilesIn(t, o.Dir)
	e, err := Open(o)
	if err == nil {
		if n := len(content(t, e, engine.ScanOptions{})); n != rotKeys || e.Flushed() != 3 {
			// what was not flushed as a whole has to be in the log
			if e.Flushed() == 3 {
				t.Errorf("%d rows are left, and the commits up to %d are flushed", n, e.Flushed())
			}
		}
		if err := e.Close(nil); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !errors.Is(err, ErrDamaged) && name != FormatName {
		t.Fatalf("the refusal is %v", err)
	}
	missing := errors.Is(err, errPartMissing) // which is known when Badger has opened the folder
	if after := enginetest.FilesIn(t, o.Dir); !missing && !slices.Equal(before, after) {
		t.Errorf("a refused folder has the files %v, before %v", after, before)
	}
	if _, err := os.Stat(filepath.Join(o.Dir, FormatName)); errors.Is(err, fs.ErrNotExist) {
		return // as a folder of another format
	}
	o.Repair = true
	e = open(t, o)
	if _, err := content(t, e, engine.ScanOptions{}), e.Close(nil); err != nil {
		t.Fatal(err)
	}
	o.Repair = false
	if err := open(t, o).Close(nil); err != nil {
		t.Error(err)
	}
}

// TestLostTransaction removes a transaction of a flush. Of the last flush: its commits have to be in the log. Of the
// one before: the folder is refused.
func TestLostTransaction(t *testing.T) {
	e := open(t, small(t, folderForTest(t)))
	flushing(t, e, 1, func(f *Flush) (err error) {
		for i := range 500 {
			err = errors.Join(err, f.Put([]byte(rotKey(i)), bytes.Repeat([]byte("v"), 1000)))
		}
		if f.parts < 2 {
			t.Errorf("the flush has only %d transactions", f.parts)
		}
		return err
	})
	txn := e.db.NewTransactionAt(e.version.Load(), true)
	defer txn.Discard()
	version := e.version.Load()
	if err := errors.Join(txn.Delete(partKey(byte(version%2), 1)), txn.CommitAt(version+1, nil)); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(nil); err != nil {
		t.Fatal(err)
	}
	e, err := Open(e.o)
	if err != nil {
		t.Fatal(err)
	}
	if e.Flushed() != 0 {
		t.Errorf("the commits up to %d are said to be in tables", e.Flushed())
	}
	if err := e.Confirm(); err != nil { // the commit log has them
		t.Fatal(err)
	}
	flushing(t, e, 2, func(f *Flush) error { return f.Put([]byte("key"), []byte("value")) })
	if e = reopen(t, e); e.Flushed() != 2 {
		t.Errorf("after another flush the commits up to %d are said to be in tables", e.Flushed())
	}
	// The flush before the last one is incomplete: it is unknown which commits are in tables.
	version = e.version.Load()
	next := e.db.NewTransactionAt(version, true)
	defer next.Discard()
	place := byte((version - 1) % 2)
	incomplete := sealEntry(nil, markerKey(place), encodeMarker(version-1, 1, 3), whole)
	err = errors.Join(next.Set(markerKey(place), incomplete), next.CommitAt(version+1, nil), e.Close(nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(e.o); !errors.Is(err, errPartMissing) || !errors.Is(err, ErrDamaged) {
		t.Errorf("the folder is opened: %v", err)
	}
	o := e.o
	o.Repair = true
	if e, err = Open(o); err != nil {
		t.Fatal(err)
	}
	if e.Flushed() != 0 {
		t.Errorf("after the repair the commits up to %d are said to be in tables", e.Flushed())
	}
	reopen(t, e).Close(nil)
}

// TestUnlistedTable has a table that MANIFEST does not name, as a compaction leaves it that was interrupted. It is
// kept until the folder is known to be sound.
func TestUnlistedTable(t *testing.T) {
	dir, table := rotFolder(t)
	other := filepath.Join(dir, "000777"+tableSuffix)
	if err := os.WriteFile(other, read(t, table), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := Open(small(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(nil)
	kept := filepath.Join(dir, othersFolder, filepath.Base(other))
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("the table is not kept: %v", err)
	}
	if err := e.Confirm(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(kept); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the table is still kept: %v", err)
	}
}

// TestInterruptedRepair interrupts a repair while files take their places: it goes on with --repair.
func TestInterruptedRepair(t *testing.T) {
	dir, table := rotFolder(t)
	for _, after := range []string{"nothing", "the old files were set aside", "one file was moved"} {
		t.Run(after, func(t *testing.T) {
			o := small(t, folderForTest(t))
			enginetest.CopyFolder(t, dir, o.Dir)
			f, err := examineFolder(o.Dir)
			if err != nil {
				t.Fatal(err)
			}
			ready := filepath.Join(o.Dir, readyFolder)
			into := o
			into.Dir = ready
			if err := f.rebuild(into); err != nil {
				t.Fatal(err)
			}
			if after != "nothing" {
				err := errors.Join(quarantineData(o.Dir), os.WriteFile(filepath.Join(ready, movedFile), nil, 0o600))
				if err != nil {
					t.Fatal(err)
				}
			}
			if after == "one file was moved" {
				name := badger.ManifestFilename
				if err := os.Rename(filepath.Join(ready, name), filepath.Join(o.Dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Open(o); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "interrupted") {
				t.Fatalf("the folder is opened: %v", err)
			}
			o.Repair = true
			e := open(t, o)
			defer e.Close(nil)
			if n := len(content(t, e, engine.ScanOptions{})); n != rotKeys {
				t.Errorf("%d rows are left of %d, of %s", n, rotKeys, table)
			}
		})
	}
}
