package memory

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/cqld/cqld/store/bloom"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// noKeys is a reader without keys.
type noKeys struct{ engine.Reader }

// Scan finds no key.
func (noKeys) Scan(_, _ []byte, _ engine.ScanOptions, _ func(key, value []byte) (bool, error)) error {
	return nil
}

// TestFilterIsBounded writes the keys of a small and a large table to a filter that has little memory: it never has
// more, never takes a key for one that was not written before, forgets the large table, and still knows the small
// one.
func TestFilterIsBounded(t *testing.T) {
	const size = 1 << 18
	f := newFilter(DefaultFilter)
	f.budget = bloom.NewBudget(size)
	write := func(table uint32, i int) bool {
		key := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, table), uint64(i))
		first, err := f.write(key, hashKey(key), noKeys{})
		if err != nil {
			t.Fatal(err)
		}
		return first
	}
	for i := range 1000 {
		write(1, i)
	}
	const n = 2 * size
	for i := range n {
		write(2, i)
		if write(2, i) {
			t.Fatalf("key %d was not written before", i)
		}
		sum := int64(0)
		for _, g := range f.groups {
			if g != nil {
				sum += g.Bytes()
			}
		}
		if sum > size {
			t.Fatalf("%d bytes after %d keys", sum, i)
		}
	}
	if write(2, n) {
		t.Error("the filter knows all of the large table")
	}
	for i := range 1000 {
		if write(1, i) {
			t.Fatalf("key %d of the small table was not written before", i)
		}
	}
	firsts := 0
	for i := range 1000 {
		if write(1, 1000+i) {
			firsts++
		}
	}
	if firsts < 900 {
		t.Errorf("the filter knows %d of 1000 keys of the small table that they were not written", firsts)
	}
	before := f.era
	f.forget([]byte{0, 0, 0, 1})
	if g, ok := f.groups[1]; ok {
		t.Errorf("a table that was forgotten has %d bytes", g.Bytes())
	}
	write(1, 0)
	if key := []byte{0, 0, 0, 1, 0}; f.lacks(key, before) || !f.lacks(key, f.era) {
		t.Error("what is known of a table since it was forgotten is said of the time before, or of no time")
	}
}

// layered is a front with layers: its base is an engine in memory.
type layered struct {
	Front
	base *Engine
}

// base makes an engine a base.
type base struct{ *Engine }

func (base) Release() {}

func newLayered() *layered {
	l := &layered{base: Open(enginetest.Union)}
	l.Init(enginetest.Union, nothing{}, base{l.base}, DefaultFilter)
	return l
}

// flush flushes the memtable.
func (l *layered) flush(t *testing.T) {
	t.Helper()
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.Freeze()
	m, next := l.OldestFrozen(), l.base.Fork()
	err := m.Each(enginetest.Union, func(op engine.Op, err error) error {
		commit(t, next, op)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	l.base = next
	l.Flushed(m, base{next})
}

// update runs an update.
func update(l *layered, fn func(engine.Txn) error) (err error) {
	l.Update(context.Background(), nil, fn, func(e error) { err = e })
	return err
}

// write commits an operation.
func (l *layered) write(t *testing.T, kind engine.OpKind, key, value string) {
	t.Helper()
	l.Commit([]engine.Op{{Kind: kind, Key: []byte(key), Value: []byte(value)}}, func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestPutsAreNotFiltered puts keys, which the filter does not keep, and merges into them and into others, once they
// are in tables: what was put is found, also by an update that reads before it writes.
func TestPutsAreNotFiltered(t *testing.T) {
	e := newLayered()
	e.write(t, engine.Put, "put and merged", "one")
	e.write(t, engine.Merge, "merged", "one")
	if e.filter.knows([]byte("put again")) || !e.filter.knows([]byte("merged again")) {
		t.Error("the filter knows what is put only, or not what is merged")
	}
	e.write(t, engine.Put, "merged and put", "one")
	e.flush(t)
	written := []string{"put and merged", "merged", "merged and put"}
	err := update(e, func(txn engine.Txn) error {
		for _, key := range append(written, "merged never") {
			found, err := txn.Get([]byte(key), func([]byte) error { return nil })
			if want := key != "merged never"; found != want || err != nil {
				t.Errorf("an update finds %s: %v, %v", key, found, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if !e.lacks([]byte("merged never"), e.filter.era) || e.lacks([]byte("put never"), e.filter.era) {
		t.Error("an update looks below for what was never merged, or not where something may have been put")
	}
	for _, key := range written {
		e.write(t, engine.Merge, key, "two")
		found, err := e.Get([]byte(key), func(value []byte) error {
			if string(value) != "one two" {
				t.Errorf("%s: %q", key, value)
			}
			return nil
		})
		if !found || err != nil {
			t.Errorf("%s: %v, %v", key, found, err)
		}
	}
}

// TestUpdateBeforeFilter deletes the only key of a table and merges into another one while an update is under way: the
// filter knows the table from then on, and the update finds the key that was there when it began.
func TestUpdateBeforeFilter(t *testing.T) {
	e := newLayered()
	e.write(t, engine.Put, "table 1", "one")
	e.flush(t)
	err := update(e, func(txn engine.Txn) error {
		e.write(t, engine.Delete, "table 1", "")
		e.write(t, engine.Merge, "table 2", "two")
		if !e.filter.knows([]byte("table 3")) {
			t.Error("the filter does not know a table that had no keys")
		}
		for key, want := range map[string]bool{"table 1": true, "table 2": false} {
			if found, err := txn.Get([]byte(key), func([]byte) error { return nil }); found != want || err != nil {
				t.Errorf("the update finds %s: %v, %v", key, found, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestFilterIsToldOfDeleted merges into a key whose mark is in the tree, of a table that the filter begins to know
// while it has nothing else: when the mark is gone, what is merged next does not replace it. The same goes for a key
// that was deleted and never written.
func TestFilterIsToldOfDeleted(t *testing.T) {
	for _, before := range []string{"written", "never written"} {
		t.Run(before, func(t *testing.T) {
			e := newLayered()
			if before == "written" {
				e.write(t, engine.Put, "table 1", "zero")
				e.flush(t)
			}
			e.write(t, engine.Delete, "table 1", "")
			e.write(t, engine.Merge, "table 2", "one")
			e.write(t, engine.Merge, "table 1", "one")
			e.flush(t)
			e.write(t, engine.Merge, "table 1", "two")
			found, err := e.Get([]byte("table 1"), func(value []byte) error {
				if string(value) != "one two" {
					t.Errorf("the key holds %q", value)
				}
				return nil
			})
			if !found || err != nil {
				t.Errorf("%v, %v", found, err)
			}
		})
	}
}

// BenchmarkFilter writes ten million keys of one table to a filter and reports how much memory it takes, and how much
// of it at once.
func BenchmarkFilter(b *testing.B) {
	for range b.N {
		f := newFilter(DefaultFilter)
		key := make([]byte, 30)
		most, last := int64(0), int64(0)
		for i := range 10_000_000 {
			binary.BigEndian.PutUint64(key[22:], uint64(i))
			if _, err := f.write(key, hashKey(key), noKeys{}); err != nil {
				b.Fatal(err)
			}
			if g := f.groups[0]; g != nil && g.Bytes() != last {
				most, last = max(most, g.Bytes()-last), g.Bytes()
			}
		}
		b.ReportMetric(float64(last)/(1<<20), "MiB")
		b.ReportMetric(float64(most)/(1<<20), "MiB-at-once")
	}
}
