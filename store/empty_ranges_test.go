package store

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/tombstones"
)

// emptyingStore is a store in which tombstones need not be kept, and reads jump over few removed keys.
type emptyingStore struct {
	testing.TB
	*Store
	clock clock
	table *schema.Table
	key   []byte // of the partition
}

// viewed is an engine that calls a function once, when a view has its snapshot.
type viewed struct {
	engine.Engine
	after atomic.Pointer[func()]
}

func (v *viewed) View(fn func(engine.Reader) error) error {
	return v.Engine.View(func(r engine.Reader) error {
		if after := v.after.Swap(nil); after != nil {
			(*after)()
		}
		return fn(r)
	})
}

func openEmptying(
	t testing.TB, run int, clustering string, engine func(engine.Fold) (engine.Engine, error),
) *emptyingStore {
	e := &emptyingStore{TB: t, key: types.EncodeInt(1)}
	e.clock.micros.Store(1000 * 1e6)
	e.Store = open(t, "", Options{Now: e.clock.now, SweepEvery: time.Hour, Engine: engine})
	e.deletions.LongRun = run
	spec := *newTable(t, "t", "k int", clustering, "v int")
	spec.Options.GCGraceSeconds = 0
	define(t, e.Store, schema.NewTable(spec))
	e.table = e.Catalog().Table("ks", "t")
	return e
}

// put writes rows from start to before end at a timestamp.
func (e *emptyingStore) put(start, end int32, ts int64) *Mutation {
	m := NewMutation(e.table, e.key)
	for c := start; c < end; c++ {
		m.Row([][]byte{types.EncodeInt(c)})
		m.Mark(ts, Expiry{})
		m.Set(e.table.Column("v"), types.EncodeInt(c), ts, Expiry{})
	}
	return m
}

// empty deletes rows, and reads the partition until nearly all of them are in empty ranges.
func (e *emptyingStore) empty(start, end int32, reverse bool) {
	e.Helper()
	e.remove(start, end)
	e.clock.micros.Add(10 * 1e6)
	eventually(e, "empty ranges with nearly all of them", func() bool {
		e.numbers(reverse)
		left := 0
		for c := start; c < end; c++ {
			all := e.deletions.EmptyRanges()
			i, in := all.At(e.rowKey(c))
			there, err := e.engine.Get(e.rowKey(c), func([]byte) error { return nil }) // it is not purged yet
			if !in || all[i].Since == tombstones.Emptying || there || err != nil {
				left++
			}
		}
		return left < 10
	})
}

func (e *emptyingStore) rowKey(c int32) []byte {
	key := append(rows.AppendPartition(nil, e.table, uint32(e.table.StoreID), e.key), rows.KindRow)
	return rows.AppendClustering(key, e.table, [][]byte{types.EncodeInt(c)})
}

func (e *emptyingStore) apply(ms ...*Mutation) {
	e.Helper()
	if err := apply(e.Store, ms...); err != nil {
		e.Fatal(err)
	}
}

// numbers are the rows that are read of the partition.
func (e *emptyingStore) numbers(reverse bool) []int32 {
	e.Helper()
	return numbersOf(e.TB.(*testing.T), e.Store, &Read{Table: e.table, Keys: [][]byte{e.key}, Reverse: reverse})
}

// expect reads the partition in both directions, and the whole table.
func (e *emptyingStore) expect(what string, want ...int32) {
	e.Helper()
	for i, r := range []*Read{
		{Table: e.table, Keys: [][]byte{e.key}}, {Table: e.table, Keys: [][]byte{e.key}, Reverse: true}, {Table: e.table},
	} {
		got := numbersOf(e.TB.(*testing.T), e.Store, r)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			e.Fatalf("%s: read %d finds %v instead of %v", what, i, got, want)
		}
	}
}

// TestWritesIntoEmptyRanges writes rows in all ways into a range that is known to be empty: they are there, and reads
// still jump over the rest.
func TestWritesIntoEmptyRanges(t *testing.T) {
	for _, clustering := range []string{"c int", "c int desc"} {
		e := openEmptying(t, 4, clustering, nil)
		for what, write := range map[string]func(){
			"an old timestamp": func() { e.apply(e.put(50, 51, 1)) },
			"a batch": func() {
				other := NewMutation(e.table, types.EncodeInt(1000))
				other.DeleteRange(sliceOf(1000, 1001), 1)
				e.apply(other, e.put(50, 51, 1))
			},
			"a conditional write": func() {
				outcome := make(chan error, 1)
				e.Decide(t.Context(), e.table, e.key, func(s *Snapshot) ([]*Mutation, error) {
					n := 0
					err := s.Read(t.Context(), &Read{Table: e.table, Keys: [][]byte{e.key}, Now: e.Now().Unix()},
						func(*Row) (bool, error) { n++; return true, nil })
					if n != 2 {
						t.Errorf("a decision finds %d rows", n)
					}
					return []*Mutation{e.put(50, 51, 1)}, err
				}, func(err error) { outcome <- err })
				if err := <-outcome; err != nil {
					t.Fatal(err)
				}
			},
		} {
			e.key = []byte{0, 0, 0, e.key[3] + 2}
			e.apply(e.put(0, 100, e.Timestamp()))
			e.empty(10, 90, clustering == "c int")
			e.remove(0, 10)
			e.remove(90, 100)
			e.apply(e.put(0, 1, e.Timestamp()), e.put(99, 100, e.Timestamp()))
			write()
			e.expect(what, 0, 50, 99)
			if len(e.deletions.EmptyRanges()) < 2 {
				t.Errorf("%s: the empty ranges are %v", what, e.deletions.EmptyRanges())
			}
			e.remove(0, 100)
		}
		closeStore(t, e.Store)
	}
}

// remove deletes rows.
func (e *emptyingStore) remove(start, end int32) {
	e.Helper()
	m := NewMutation(e.table, e.key)
	m.At(e.Now().Unix())
	for c := start; c < end; c++ {
		m.Row([][]byte{types.EncodeInt(c)})
		m.DeleteRow(e.Timestamp())
	}
	e.apply(m)
}

// TestOlderSnapshotThanEmptyRange deletes and purges rows when a read has its snapshot: it finds them all the same.
func TestOlderSnapshotThanEmptyRange(t *testing.T) {
	v := new(viewed)
	e := openEmptying(t, 4, "c int", func(f engine.Fold) (_ engine.Engine, err error) {
		v.Engine, err = openEngine("", f)
		return v, err
	})
	defer closeStore(t, e.Store)
	e.apply(e.put(0, 50, e.Timestamp()))
	empty := func() { e.empty(0, 50, false) }
	v.after.Store(&empty)
	if got := e.numbers(false); len(got) != 50 {
		t.Errorf("the read finds %d of 50 rows", len(got))
	}
	e.expect("another read")
}

// TestViewOverEmptyRange empties a partition of a view, and writes a row of the base that is in it.
func TestViewOverEmptyRange(t *testing.T) {
	e := openEmptying(t, 4, "c int", nil)
	defer closeStore(t, e.Store)
	twin := *newTable(t, "byv", "v int", "c int, k int", "")
	twin.ID = [16]byte{7}
	define(t, e.Store, viewOf(e.table, &twin))
	view := e.Catalog().Table("ks", "byv")
	write := func(c, v int32) {
		m := NewMutation(e.table, e.key)
		m.Row([][]byte{types.EncodeInt(c)})
		m.Mark(e.Timestamp(), Expiry{})
		m.Set(e.table.Column("v"), types.EncodeInt(v), e.Timestamp(), Expiry{})
		e.apply(m)
	}
	for c := range int32(100) {
		write(c, 1)
	}
	for c := range int32(90) {
		write(c, 2)
	}
	e.deletions.SlowStart = -1 // rows of views are removed without a tombstone
	read := func() []int32 {
		return numbersOf(t, e.Store, &Read{Table: view, Keys: [][]byte{types.EncodeInt(1)}})
	}
	eventually(t, "an empty range", func() bool { return len(read()) == 10 && len(e.deletions.EmptyRanges()) > 0 })
	write(50, 1)
	if got := read(); len(got) != 11 || got[0] != 50 {
		t.Errorf("the view has %v", got)
	}
}

// TestRestoreIntoEmptyRange restores rows that have been removed since.
func TestRestoreIntoEmptyRange(t *testing.T) {
	e := openEmptying(t, 4, "c int", nil)
	defer closeStore(t, e.Store)
	e.apply(e.put(0, 50, e.Timestamp()))
	i, err := e.Image()
	if err != nil {
		t.Skip(err)
	}
	e.empty(0, 50, false)
	if _, err := e.Restore(i); err != nil {
		t.Fatal(err)
	}
	if got := e.numbers(true); len(got) != 50 {
		t.Errorf("%d of 50 rows are there again", len(got))
	}
}

// TestEmptyRangesBesideWrites writes rows into ranges that are empty, or are being emptied, while others read: each
// finds the rows that were there when it began.
func TestEmptyRangesBesideWrites(t *testing.T) {
	e := openEmptying(t, 4, "c int", nil)
	defer closeStore(t, e.Store)
	e.deletions.SlowStart = -1
	random := rand.New(rand.NewPCG(1, 2))
	for round := range sized(4, 12) {
		e.apply(e.put(0, 400, e.Timestamp()))
		e.empty(0, 400, round%2 == 0)
		order := random.Perm(400)[:60]
		var written atomic.Int32
		var reading sync.WaitGroup
		for n := range 3 {
			reading.Go(func() {
				for last := int32(0); last < int32(len(order)); {
					last = written.Load()
					got := e.numbers(n%2 == 0)
					for _, c := range order[:last] {
						if !slices.Contains(got, int32(c)) {
							t.Errorf("row %d is not there", c)
							return
						}
					}
				}
			})
		}
		for _, c := range order {
			e.apply(e.put(int32(c), int32(c)+1, e.Timestamp()))
			written.Add(1)
		}
		reading.Wait()
		e.remove(0, 400)
		e.clock.micros.Add(10 * 1e6)
	}
}

// stepping is an engine that counts the keys of rows that its scans step over, whether they are there or were removed.
type stepping struct {
	engine.Engine
	keys  [][]byte // of all rows that there have been, in order
	steps atomic.Int64
}

type steppingReader struct {
	engine.Reader
	s *stepping
}

// View counts.
func (s *stepping) View(fn func(engine.Reader) error) error {
	return s.Engine.View(func(r engine.Reader) error { return fn(steppingReader{r, s}) })
}

// Scan counts.
func (r steppingReader) Scan(start, end []byte, o engine.ScanOptions, fn func(k, v []byte) (bool, error)) error {
	from, to := start, end
	err := r.Reader.Scan(start, end, o, func(k, v []byte) (bool, error) {
		more, err := fn(k, v)
		if !more && o.Reverse {
			from = bytes.Clone(k)
		} else if !more {
			to = bytes.Clone(k)
		}
		return more, err
	})
	i, _ := slices.BinarySearchFunc(r.s.keys, from, bytes.Compare)
	j, _ := slices.BinarySearchFunc(r.s.keys, to, bytes.Compare)
	r.s.steps.Add(int64(max(0, j-i)))
	return err
}

// TestHeadOfLongQueue reads the head of a queue on disk behind 100,000 rows that were deleted: after the first read
// and the purge that it asks for, reads step over few keys, while the queue is used, and when the folder is opened
// again.
func TestHeadOfLongQueue(t *testing.T) {
	if *engineName != "disk" {
		t.Skip("no keys are stepped over that were removed")
	}
	for _, test := range []struct {
		clustering string
		backward   bool
		dead       int
	}{
		{"c int", false, sized(20_000, 100_000)},
		{"c int desc", false, sized(5000, 20_000)},
		{"c int", true, sized(5000, 20_000)},
		{"c int desc", true, sized(5000, 20_000)},
	} {
		dead := int32(test.dead)
		dir := t.TempDir()
		e := &emptyingStore{TB: t, key: types.EncodeInt(1)}
		e.clock.micros.Store(1000 * 1e6)
		steps := new(stepping)
		reopen := func() {
			engine := func(f engine.Fold) (_ engine.Engine, err error) {
				steps.Engine, err = openSmallDisk(dir, f)
				return steps, err
			}
			e.Store = open(t, dir, Options{Now: e.clock.now, SweepEvery: time.Hour, Engine: engine})
			e.deletions.SlowStart = -1 // though compactions may have left nothing to step over
		}
		reopen()
		spec := *newTable(t, "t", "k int", test.clustering, "v int")
		spec.Options.GCGraceSeconds = 0
		define(t, e.Store, schema.NewTable(spec))
		e.table = e.Catalog().Table("ks", "t")
		number := func(i int32) int32 { // of the i-th message; the head is the row with which a read begins
			if test.backward != (test.clustering == "c int desc") {
				return -i
			}
			return i
		}
		change := func(from, to int32, fn func(*Mutation)) {
			for i := from; i < to; {
				m := NewMutation(e.table, e.key)
				m.At(e.Now().Unix())
				for n := 0; n < 1000 && i < to; n++ {
					m.Row([][]byte{types.EncodeInt(number(i))})
					fn(m)
					i++
				}
				e.apply(m)
			}
		}
		put := func(m *Mutation) { m.Mark(e.Timestamp(), Expiry{}) }
		remove := func(m *Mutation) { m.DeleteRow(e.Timestamp()) }
		for i := range dead + 3000 {
			steps.keys = append(steps.keys, e.rowKey(number(i)))
		}
		slices.SortFunc(steps.keys, bytes.Compare)
		head := func() (n int32, stepped int64) {
			before := steps.steps.Load()
			r := &Read{Table: e.table, Keys: [][]byte{e.key}, Now: e.Now().Unix(), Reverse: test.backward}
			err := e.Read(t.Context(), r, func(row *Row) (bool, error) {
				n = intOf(row.Values[1])
				return false, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return n, steps.steps.Load() - before
		}
		few := func(first int32) {
			t.Helper()
			eventually(t, "few keys are stepped over", func() bool {
				n, stepped := head()
				if n != number(first) {
					t.Fatalf("the head is %d instead of %d", n, number(first))
				}
				return stepped <= 2*tombstones.LongRun
			})
		}
		change(0, dead+2000, put)
		change(0, dead-1, remove)
		e.clock.micros.Add(10 * 1e6)
		if _, stepped := head(); stepped < int64(dead)-1 {
			t.Errorf("the first read steps over %d keys", stepped)
		}
		for removed := int32(0); removed < dead-1; removed += 2000 {
			eventually(t, "rows are purged", func() bool { return e.SweepMetrics().Removed >= uint64(removed) })
		}
		few(dead - 1)
		first := dead - 1
		for range 1000 { // which the purge follows
			change(first, first+1, remove)
			first++
			e.clock.micros.Add(2 * 1e6)
			if first%tombstones.LongRun == 0 {
				few(first)
			}
		}
		few(first)
		closeStore(t, e.Store)
		reopen()
		e.table = e.Catalog().Table("ks", "t")
		few(first)
		change(dead/2, dead/2+1, func(m *Mutation) { m.Mark(1, Expiry{}) })
		few(dead / 2)
		closeStore(t, e.Store)
	}
}

// blockedPurge is an engine in which purges wait.
type blockedPurge struct {
	engine.Engine
	waiting atomic.Bool   // a purge waits
	free    chan struct{} // closed when they may go on
}

func (b *blockedPurge) Update(ctx context.Context, guards [][]byte, fn func(engine.Txn) error, done func(error)) {
	b.waiting.Store(true)
	<-b.free
	b.Engine.Update(ctx, guards, fn, done)
}

// TestJumpsBeforePurge deletes a partition of many rows: reads jump over them before they are purged, and see what is
// written there meanwhile and afterwards.
func TestJumpsBeforePurge(t *testing.T) {
	b := &blockedPurge{free: make(chan struct{})}
	e := openEmptying(t, 16, "c int", func(fold engine.Fold) (_ engine.Engine, err error) {
		b.Engine, err = openEngine("", fold)
		return b, err
	})
	e.apply(e.put(0, 1000, 1000*1e6))
	m := NewMutation(e.table, e.key)
	m.DeletePartition(1001 * 1e6)
	e.apply(m)
	e.apply(e.put(500, 501, 1002*1e6))
	e.clock.micros.Add(10 * 1e6)
	e.numbers(false)
	eventually(t, "the rows are purged", b.waiting.Load)
	inRange := func(c int32) bool {
		all := e.deletions.EmptyRanges()
		i, in := all.At(e.rowKey(c))
		return in && all[i].Since != tombstones.Emptying
	}
	if !inRange(10) || inRange(500) {
		t.Errorf("reads jump over dead rows: %t, over others: %t", inRange(10), inRange(500))
	}
	e.expect("while the rows are purged", 500)
	e.apply(e.put(20, 21, 1003*1e6))
	e.expect("written meanwhile", 20, 500)
	close(b.free)
	eventually(t, "all dead rows are purged", func() bool {
		n := 0
		start := rows.AppendArea(nil, uint32(e.table.StoreID), rows.AreaRows)
		err := b.Engine.Scan(start, rows.Successor(bytes.Clone(start)), engine.ScanOptions{KeysOnly: true},
			func(_, _ []byte) (bool, error) {
				n++
				return true, nil
			})
		return err == nil && n < 510
	})
	e.expect("purged", 20, 500)
	e.apply(e.put(30, 31, 1000*1e6)) // older than the deletion
	e.expect("older", 20, 500)
}
