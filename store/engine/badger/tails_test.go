package badger

import (
	"fmt"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// TestFoldTails opens a folder with the tails of an earlier version: they are folded into their values, but for a tail
// without a value that may have one.
func TestFoldTails(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	txn := e.db.NewTransactionAt(e.version.Load(), true)
	set := func(key, value string, meta byte) {
		if err := txn.SetEntry(badger.NewEntry([]byte(key), []byte(value)).WithMeta(meta)); err != nil {
			t.Fatal(err)
		}
	}
	set("long", "a c", longMeta)
	set(tailPrefix+"long", "b d", 0)
	set("untouched", "x", longMeta)
	set("replaced", "y", 0)
	set(tailPrefix+"replaced", "z", 0)
	set(tailPrefix+"gone", "z", 0)
	for i := range 100 {
		set(fmt.Sprint("many", i), "a", longMeta)
		set(fmt.Sprint(tailPrefix, "many", i), fmt.Sprint("b", i), 0)
	}
	if err := txn.CommitAt(e.version.Load()+1, nil); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		e = openWith(t, Options{Dir: dir}, enginetest.Union)
		s := e.Snapshot()
		for key, want := range map[string]string{
			"long": "a b c d", "untouched": "x", "replaced": "y", "gone": "", "many7": "a b7", "many99": "a b99",
		} {
			if got := get(t, s, key); got != want {
				t.Errorf("%s holds %q, want %q", key, got, want)
			}
		}
		n := 0
		err := s.Scan(nil, nil, engine.ScanOptions{KeysOnly: true}, func(_, _ []byte) (bool, error) { n++; return true, nil })
		if err != nil || n != 103 {
			t.Errorf("%d keys, %v", n, err)
		}
		s.Release()
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
