package badger

import (
	"sync/atomic"
	"testing"
)

const (
	calmValues = 700 // some memtables full
	calmSize   = 80_000
)

// writeFirstLevel writes values so that the first level gets tables which have keys in common.
func writeFirstLevel(t *testing.T, e *Engine) {
	t.Helper()
	for i := range calmValues {
		if err := numbered(e, i*101%calmValues, calmSize); err != nil {
			t.Fatal(err)
		}
	}
	waitForTables(t, e)
	if n := firstLevel(e.db); n <= calmTables {
		t.Fatalf("the first level has only %d tables", n)
	}
}

// expectNumbered reads all values.
func expectNumbered(t *testing.T, e *Engine, values int) {
	t.Helper()
	found, err := readNumbered(e)
	if err != nil || len(found) != values {
		t.Errorf("%d values of %d are left, %v", len(found), values, err)
	}
}

// TestMergeFirstLevel merges tables of the first level into one that had none, and into one with tables. It is how
// another version of Badger is found out in which this is not done so.
func TestMergeFirstLevel(t *testing.T) {
	dir := t.TempDir()
	e := openWith(t, Options{Dir: dir}, nil)
	for range 2 {
		writeFirstLevel(t, e)
		for merges := 0; firstLevel(e.db) > 0; merges++ {
			if err := mergeFirstLevel(e.db); err != nil || merges > firstLevelTables {
				t.Fatalf("after %d merges the first level has %d tables, %v", merges, firstLevel(e.db), err)
			}
		}
		expectNumbered(t, e, calmValues)
	}
	if err := mergeFirstLevel(e.db); err == nil {
		t.Error("a level without tables was merged")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openWith(t, Options{Dir: dir}, nil)
	expectNumbered(t, e, calmValues)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestMergeWhileCalm waits until tables are merged, which is not while there are many commits.
func TestMergeWhileCalm(t *testing.T) {
	dir := t.TempDir()
	e := openWith(t, Options{Dir: dir}, nil)
	writeFirstLevel(t, e)
	before := firstLevel(e.db)
	var asked atomic.Int64
	var commits atomic.Uint64
	var calm atomic.Bool
	e.MergeWhileCalm(func() uint64 {
		asked.Add(1)
		if !calm.Load() {
			commits.Add(calmCommits + 1)
		}
		return commits.Load()
	})
	waitFor(t, "it is looked how many commits there are", func() bool { return asked.Load() > 3 })
	if now := firstLevel(e.db); now != before {
		t.Errorf("beside many commits %d tables became %d", before, now)
	}
	calm.Store(true)
	waitFor(t, "tables are merged", func() bool { return firstLevel(e.db) <= calmTables })
	expectNumbered(t, e, calmValues)

	calm.Store(false)
	writeFirstLevel(t, e)
	calm.Store(true)
	if err := e.Close(); err != nil { // beside a merge or before it
		t.Fatal(err)
	}
	e = openWith(t, Options{Dir: dir}, nil)
	expectNumbered(t, e, calmValues)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
