package badger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/ristretto/v2/z"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// fill flushes a few megabytes.
func fill(t testing.TB, e *Engine, last uint64, key func(i int) string) {
	flushing(t, e, last, func(f *Flush) error {
		for i := range 3000 {
			if err := f.Put([]byte(key(i)), bytes.Repeat([]byte{byte(last)}, 1000)); err != nil {
				return err
			}
			if n := e.db.Levels()[0].NumTables; i%100 == 0 && n > maxLevelZero {
				t.Errorf("level zero has %d tables", n)
			}
		}
		return nil
	})
}

// TestLevelZeroStaysSmall flushes much more than a memtable at a time, over the same and over other keys, closes the
// folder in between, and opens copies as a kill leaves them: level zero never has four tables, so that Badger does not
// merge its tables with each other.
func TestLevelZeroStaysSmall(t *testing.T) {
	e := open(t, small(t, folderForTest(t)))
	for last := uint64(1); last <= 8; last++ {
		fill(t, e, last, func(i int) string {
			if last%2 == 0 {
				return fmt.Sprintf("%d %05d", last, i)
			}
			return fmt.Sprintf("%05d", i)
		})
		if last%3 == 0 {
			left := folderForTest(t)
			enginetest.CopyFolder(t, e.o.Dir, left)
			e = reopen(t, e)
			if n := e.db.Levels()[0].NumTables; n > maxLevelZero {
				t.Errorf("opened again, level zero has %d tables", n)
			}
			f, err := examineFolder(left)
			if err != nil {
				t.Fatal(err)
			}
			n := f.logs
			for _, table := range f.tables {
				if table.Level == 0 {
					n++
				}
			}
			if n > maxLevelZero+1 { // a memtable and its table may both be there
				t.Errorf("after a kill, level zero has %d tables", n)
			}
		}
	}
	if err := e.Close(nil); err != nil {
		t.Fatal(err)
	}
}

// TestFullLevelZero opens a folder that has old tables in level zero, and more than there should be: Badger takes them
// for young ones, which it does not merge with each other, and the newest value stays until they are gone.
func TestFullLevelZero(t *testing.T) {
	o := small(t, folderForTest(t))
	if err := open(t, o).Close(nil); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(6) {
		db, err := badger.OpenManaged(badgerOptions(o).WithNumCompactors(0))
		if err != nil {
			t.Fatal(err)
		}
		txn := db.NewTransactionAt(i, true)
		key := []byte("key")
		err = errors.Join(txn.Set(key, sealEntry(nil, key, fmt.Append(nil, i), whole)), txn.CommitAt(i+1, nil), db.Close())
		if err != nil {
			t.Fatal(err)
		}
	}
	paths, err := filepath.Glob(filepath.Join(o.Dir, "*"+tableSuffix))
	if err != nil || len(paths) != 6 {
		t.Fatalf("%d tables, %v", len(paths), err)
	}
	for _, path := range paths {
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	o.setDefaults()
	if err := prepareFolder(&o); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		file, err := z.OpenMmapFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		opened, err := table.OpenTable(file, table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if opened.CreatedAt.Before(time.Now()) {
			t.Errorf("Badger takes %s for a table of %v", path, opened.CreatedAt)
		}
		if err := opened.Close(-1); err != nil {
			t.Fatal(err)
		}
	}
	e := open(t, o)
	defer e.Close(nil)
	for e.db.Levels()[0].NumTables > 1 {
		if got := get(t, e, "key"); got != "5" {
			t.Fatalf("the key holds %q", got)
		}
	}
	if got := get(t, e, "key"); got != "5" {
		t.Errorf("compacted, the key holds %q", got)
	}
}

// TestDeletedStaysDeleted deletes keys in one flush and writes others in the next ones, and opens the folder between
// them: no compaction brings the deleted keys back.
func TestDeletedStaysDeleted(t *testing.T) {
	e := open(t, small(t, folderForTest(t)))
	name := func(i int) []byte { return fmt.Appendf(nil, "key%05d", i) }
	last := uint64(0)
	put := func(from, to int) {
		last++
		flushing(t, e, last, func(f *Flush) (err error) {
			for i := from; i < to; i++ {
				err = errors.Join(err, f.Put(name(i), bytes.Repeat([]byte("v"), 60_000)))
			}
			return err
		})
	}
	for range 4 {
		put(0, 50)
	}
	e = reopen(t, e)
	last++
	flushing(t, e, last, func(f *Flush) (err error) {
		for i := range 20 {
			err = errors.Join(err, f.Delete(name(10+i)))
		}
		return err
	})
	want := func(when string) {
		t.Helper()
		if all := content(t, e, engine.ScanOptions{KeysOnly: true}); all[string(name(15))] != "" || len(all) < 30 {
			t.Errorf("%s: %d keys", when, len(all))
		} else if _, found := all[string(name(15))]; found {
			t.Errorf("%s: a deleted key is back", when)
		}
	}
	want("deleted")
	e = reopen(t, e)
	want("opened again")
	put(40, 90)
	e = reopen(t, e)
	want("with other keys")
	if err := e.Compact(); err != nil {
		t.Fatal(err)
	}
	want("compacted")
	if err := e.Close(nil); err != nil {
		t.Fatal(err)
	}
}

// TestBadgerIsKnown fails when Badger is updated. What this package relies on beside Badger's documentation was read
// in the source of the version below; read it again before the version here is changed:
//
//   - levels.go, fillTablesL0ToL0: tables of level zero are merged with each other from four on, not fewer.
//   - levels.go, addLevel0Table: MANIFEST has a table before there is room for it, and Close adds tables past the
//     stall.
//   - db.go, ensureRoomForWrite: a memtable is full at MemTableSize bytes of entries or of its log, and is replaced
//     before a transaction, not within it.
//   - db.go, flushMemtable: a memtable's log is removed after its table is in level zero.
//   - levels.go, newLevelsController: a table whose index does not have its checksum is left out with a line in the
//     log.
//   - levels.go, compactBuildTables: a table that cannot be created is left out, and its inputs are deleted.
//   - levels.go, Flatten: it runs compactions as a worker other than 0, which merges no tables of level zero.
//   - db.go, DropPrefix: it fails writes, makes a table of the memtable with all its keys, drops from the last level
//     up, merges all of level zero into the base level, and hides an error of that. It holds the lock of readers.
//   - levels.go, compactBuildTables: a table that has only dropped keys is not read.
//   - levels.go, subcompact: a deleted key stays, with its values, while it is newer than what is discarded.
//   - table.go, OpenTable: the age of a table is that of its file.
//   - txn.go: entries of one transaction are replayed all or none.
func TestBadgerIsKnown(t *testing.T) {
	const known = "github.com/dgraph-io/badger/v4 v4.9.6"
	b, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), known) {
		t.Errorf("Badger is not %s: see the comment", known)
	}
}
