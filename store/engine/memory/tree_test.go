package memory

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/enginetest"
)

// numbered is a key with a number, of a table and partition that are the same for all.
func numbered(n int) []byte {
	return binary.BigEndian.AppendUint64([]byte("table and partition "), uint64(n))
}

// fill commits rows with numbers, in batches. order gives the number of the ith.
func fill(t testing.TB, e *Engine, n int, value []byte, order func(i int) int) {
	t.Helper()
	ops := make([]engine.Op, 0, 50)
	for i := range n {
		if ops = append(ops, engine.Op{Key: numbered(order(i)), Value: value}); len(ops) == cap(ops) || i == n-1 {
			commit(t, e, ops...)
			ops = ops[:0]
		}
	}
}

func same(i int) int { return i }

// TestGrowth inserts and deletes many rows in several orders: leaves have many rows, those without any go, and the
// tree is as low as it can be in the end.
func TestGrowth(t *testing.T) {
	const n = 25_000
	shuffled := rand.New(rand.NewPCG(1, 2)).Perm(n)
	backwards := func(i int) int { return n - 1 - i }
	at := func(i int) int { return shuffled[i] }
	for name, order := range map[string]struct {
		insert, remove func(i int) int
		mean           int // rows in a leaf
	}{
		"queue":     {same, same, 30},
		"stack":     {same, backwards, 30},
		"backwards": {backwards, same, 14},
		"shuffled":  {at, at, 18},
		"sparse":    {at, same, 18},
		"holes":     {same, at, 30},
	} {
		t.Run(name, func(t *testing.T) {
			e := Open(enginetest.Union)
			fill(t, e, n, []byte("v"), order.insert)
			rows, leaves := checkTree(t, &e.Memtable.tree)
			if rows != n || rows < leaves*order.mean {
				t.Errorf("%d rows in %d leaves", rows, leaves)
			}
			left := n
			for left > 0 {
				var ops []engine.Op
				for range min(left, 1000) {
					ops = append(ops, engine.Op{Kind: engine.Delete, Key: numbered(order.remove(n - left))})
					left--
				}
				commit(t, e, ops...)
				rows, leaves := checkTree(t, &e.Memtable.tree)
				if rows != left || leaves > 1+rows/8 {
					t.Fatalf("%d of %d rows are in %d leaves", rows, left, leaves)
				}
			}
			if e.Memtable.tree.Level() != 0 {
				t.Errorf("an empty tree has the level %d", e.Memtable.tree.Level())
			}
		})
	}
}

// TestQueue inserts at one end and deletes at the other for long: what the engine holds does not grow.
func TestQueue(t *testing.T) {
	e := Open(enginetest.Union)
	value := make([]byte, 500)
	const n, length = 200_000, 1000
	var early uint64
	for i := range n {
		ops := []engine.Op{{Key: numbered(i), Value: value}}
		if i >= length {
			ops = append(ops, engine.Op{Kind: engine.Delete, Key: numbered(i - length)})
		}
		commit(t, e, ops...)
		if i == n/10 {
			early = heap()
		}
	}
	if rows, leaves := checkTree(t, &e.Memtable.tree); rows != length || leaves > 2+length/8 {
		t.Errorf("%d rows in %d leaves", rows, leaves)
	}
	if late := heap(); late > early+1<<20 {
		t.Errorf("the heap has grown from %d to %d bytes", early, late)
	}
	runtime.KeepAlive(e)
}

// heap is the live heap.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestRowMemory bounds what a small row takes.
func TestRowMemory(t *testing.T) {
	const n = 200_000
	perm := rand.New(rand.NewPCG(1, 2)).Perm(n)
	for name, order := range map[string]func(int) int{"ascending": same, "shuffled": func(i int) int { return perm[i] }} {
		before := heap()
		e := Open(enginetest.Union)
		fill(t, e, n, make([]byte, 50), order)
		each := float64(heap()-before) / n
		t.Logf("%s: %.1f bytes for a row with a key of %d bytes and a value of 50", name, each, len(numbered(0)))
		if each > 130 {
			t.Errorf("%s: a row takes %.1f bytes", name, each)
		}
		runtime.KeepAlive(e)
	}
}

// TestWritesInPlace counts what single writes allocate: a row, but no nodes unless somebody reads meanwhile.
func TestWritesInPlace(t *testing.T) {
	e := Open(enginetest.Union)
	fill(t, e, 10_000, []byte("value"), same)
	ops := []engine.Op{{Key: numbered(5000), Value: []byte("other")}}
	done := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	read := func([]byte) error { return nil }
	write := func() {
		e.Commit(ops, done)
		if found, err := e.Get(ops[0].Key, read); !found || err != nil {
			t.Error(found, err)
		}
	}
	if n := testing.AllocsPerRun(100, write); n != 1 {
		t.Errorf("a write and a read allocate %v times", n)
	}
	err := e.View(func(engine.Reader) error {
		write()
		if n := testing.AllocsPerRun(100, write); n != 1 {
			t.Errorf("while an old view is under way, a write and a read allocate %v times", n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if n := testing.AllocsPerRun(100, func() { e.Snapshot(); write() }); n < float64(e.Memtable.tree.Level()+2) {
		t.Errorf("a write behind a snapshot allocates %v times", n)
	}
}

// TestOldRowsGo replaces large values in all ways, with reads meanwhile: nothing is kept of what nobody can read.
func TestOldRowsGo(t *testing.T) {
	const n = 8
	e := Open(enginetest.Union)
	empty := e.Snapshot()
	all := func(value []byte) (ops []engine.Op) {
		for i := range n {
			ops = append(ops, engine.Op{Key: numbered(i), Value: value})
		}
		return ops
	}
	large, before := make([]byte, 1<<20), heap()
	gone := func(what string) {
		t.Helper()
		if after := heap(); after > before+2<<20 {
			t.Errorf("%s: the heap has grown from %d to %d bytes", what, before, after)
		}
	}
	for range 10 {
		err := e.View(func(engine.Reader) error {
			for _, op := range all(large) {
				commit(t, e, op)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	commit(t, e, all([]byte("small"))...)
	gone("overwritten")
	commit(t, e, all(large)...)
	for i := range n {
		commit(t, e, engine.Op{Kind: engine.Delete, Key: numbered(i)})
	}
	gone("deleted")
	commit(t, e, all(large)...)
	if err := e.Restore(empty); err != nil {
		t.Fatal(err)
	}
	gone("restored")
	commit(t, e, all(large)...)
	if err := e.DeleteRange(nil, nil); err != nil {
		t.Fatal(err)
	}
	gone("a range deleted")
	runtime.KeepAlive(large)
	runtime.KeepAlive(e)
}
