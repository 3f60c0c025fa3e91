package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/tombstones"
)

// counting is an engine that counts what its readers and updates are asked for.
type counting struct {
	engine.Engine
	scans, gets, keys atomic.Int64
}

// countingReader is a reader of such an engine.
type countingReader struct {
	engine.Reader
	c *counting
}

// Get counts it.
func (r countingReader) Get(key []byte, fn func(value []byte) error) (bool, error) {
	r.c.gets.Add(1)
	return r.Reader.Get(key, fn)
}

// Scan counts it and the keys that it visits.
func (r countingReader) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	r.c.scans.Add(1)
	return r.Reader.Scan(start, end, o, func(key, value []byte) (bool, error) {
		r.c.keys.Add(1)
		return fn(key, value)
	})
}

// countingTxn is a transaction of such an engine.
type countingTxn struct {
	engine.Txn
	countingReader
}

// Get counts it.
func (x countingTxn) Get(key []byte, fn func(value []byte) error) (bool, error) {
	return x.countingReader.Get(key, fn)
}

// Scan counts it.
func (x countingTxn) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	return x.countingReader.Scan(start, end, o, fn)
}

// View counts what fn asks for.
func (c *counting) View(fn func(engine.Reader) error) error {
	return c.Engine.View(func(r engine.Reader) error { return fn(countingReader{r, c}) })
}

// Update counts what fn asks for.
func (c *counting) Update(ctx context.Context, guards [][]byte, fn func(engine.Txn) error, done func(error)) {
	c.Engine.Update(ctx, guards, func(txn engine.Txn) error {
		return fn(countingTxn{txn, countingReader{txn, c}})
	}, done)
}

// Scan counts it.
func (c *counting) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	return countingReader{c.Engine, c}.Scan(start, end, o, fn)
}

// counted runs fn and returns how many scans and gets there were, and how many keys the scans visited.
func (c *counting) counted(fn func()) (scans, gets, keys int64) {
	scans, gets, keys = c.scans.Load(), c.gets.Load(), c.keys.Load()
	fn()
	return c.scans.Load() - scans, c.gets.Load() - gets, c.keys.Load() - keys
}

// openCounting opens a store with a table of partitions of one row, whose tombstones are kept for 10 seconds. Nobody
// sweeps it but the test.
func openCounting(t *testing.T, dir string, now *clock) (*Store, *counting, *schema.Table) {
	t.Helper()
	c := new(counting)
	s := open(t, "", Options{
		Now: now.now, SweepEvery: math.MaxInt64,
		Engine: func(f engine.Fold) (_ engine.Engine, err error) {
			c.Engine, err = openEngine(dir, f)
			return c, err
		},
	})
	if s.Catalog().Table("ks", "one") == nil {
		one := *newTable(t, "one", "k int", "", "v int")
		one.Options.GCGraceSeconds = 10
		define(t, s, schema.NewTable(one))
	}
	return s, c, s.Catalog().Table("ks", "one")
}

// applyEach applies a mutation to each of some partitions, a hundred at a time.
func applyEach(t *testing.T, s *Store, table *schema.Table, from, to int32, change func(m *Mutation)) {
	t.Helper()
	for from < to {
		var ms []*Mutation
		for ; from < to && len(ms) < 100; from++ {
			m := NewMutation(table, types.EncodeInt(from))
			m.At(s.Now().Unix())
			change(m)
			ms = append(ms, m)
		}
		if err := apply(s, ms...); err != nil {
			t.Fatal(err)
		}
	}
}

func writeOne(s *Store, table *schema.Table) func(m *Mutation) {
	return func(m *Mutation) {
		m.Row(nil)
		m.Mark(s.Timestamp(), Expiry{})
		m.Set(table.Column("v"), types.EncodeInt(7), s.Timestamp(), Expiry{})
	}
}

func deleteOne(s *Store) func(m *Mutation) {
	return func(m *Mutation) { m.DeletePartition(s.Timestamp()) }
}

// TestScanAmongDeletedPartitions counts what a scan asks the engine for that goes by many deleted partitions.
func TestScanAmongDeletedPartitions(t *testing.T) {
	var now clock
	now.micros.Store(1000 * 1e6)
	s, c, table := openCounting(t, "", &now)
	defer closeStore(t, s)
	const live, deleted = 2000, 3000
	applyEach(t, s, table, 0, live+deleted, writeOne(s, table))
	applyEach(t, s, table, live, live+deleted, deleteOne(s))
	for name, r := range map[string]*Read{
		"plain":               {Table: table, Now: s.Now().Unix()},
		"counting tombstones": {Table: table, Now: s.Now().Unix(), Tombstones: &TombstonesRead{Max: math.MaxInt}},
	} {
		found := 0
		scans, gets, keys := c.counted(func() {
			if err := s.Read(t.Context(), r, func(*Row) (bool, error) { found++; return true, nil }); err != nil {
				t.Fatal(err)
			}
		})
		if found != live {
			t.Errorf("%s: %d of %d rows", name, found, live)
		}
		if scans > 20 || gets > 0 || keys > live+2*deleted+10 {
			t.Errorf("%s: %d scans, %d gets, %d keys", name, scans, gets, keys)
		}
	}
	scans, gets, _ := c.counted(func() {
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	if runs := int64(deleted / 20); scans > runs || gets > 5*deleted { // each function of an update may run twice
		t.Errorf("a sweep needs %d scans and %d gets", scans, gets)
	}
	if got, want := countKeys(t, s, table), int64(live+deleted); got != want {
		t.Errorf("%d keys are left of %d", got, want)
	}
}

// countKeys counts the keys of a table.
func countKeys(t *testing.T, s *Store, table *schema.Table) (n int64) {
	t.Helper()
	start, end := rows.AppendArea(nil, uint32(table.StoreID), rows.AreaTombstones),
		rows.Successor(rows.AppendArea(nil, uint32(table.StoreID), rows.AreaRows))
	err := s.engine.Scan(start, end, engine.ScanOptions{KeysOnly: true},
		func(_, _ []byte) (bool, error) { n++; return true, nil })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestPointReadsAfterDeletions counts what point reads ask the engine for: of a key that was deleted and written
// again, of another one, and of both when the tombstones are purged.
func TestPointReadsAfterDeletions(t *testing.T) {
	var now clock
	now.micros.Store(1000 * 1e6)
	s, c, table := openCounting(t, "", &now)
	defer closeStore(t, s)
	const n = 500
	applyEach(t, s, table, 0, n, writeOne(s, table))
	applyEach(t, s, table, 0, n, deleteOne(s))
	applyEach(t, s, table, 0, 2*n, writeOne(s, table))
	expect := func(what string, from, to int32, most int64) {
		t.Helper()
		found := 0
		scans, gets, _ := c.counted(func() {
			for k := from; k < to; k++ {
				r := &Read{Table: table, Keys: [][]byte{types.EncodeInt(k)}, Now: s.Now().Unix()}
				if err := s.Read(t.Context(), r, func(*Row) (bool, error) { found++; return true, nil }); err != nil {
					t.Fatal(err)
				}
			}
		})
		if found != int(to-from) || scans > most/10 || gets > most {
			t.Errorf("%s: found %d with %d gets and %d scans", what, found, gets, scans)
		}
	}
	expect("rewritten", 0, n, 2*n)
	expect("others", n, 2*n, n+n/10)
	now.micros.Add(20 * 1e6)
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.deletions.FilterOf(uint32(table.StoreID), s.deletions.Clock()).Any() {
		t.Error("something is known of tombstones that are purged")
	}
	expect("rewritten, purged", 0, n, n)
	if got := countKeys(t, s, table); got != 2*n {
		t.Errorf("%d keys are left", got)
	}
}

// TestReopenWithDeletions opens a folder with many tombstones: that does not wait until they are read, reads are right
// at once, and soon they look at tombstones only where there are any.
func TestReopenWithDeletions(t *testing.T) {
	dir := t.TempDir()
	var now clock
	now.micros.Store(1000 * 1e6)
	s, _, table := openCounting(t, dir, &now)
	const deleted = 10_000
	applyEach(t, s, table, 0, deleted+100, writeOne(s, table))
	applyEach(t, s, table, 0, deleted, deleteOne(s))
	closeStore(t, s)
	s, c, table := openCounting(t, dir, &now)
	defer closeStore(t, s)
	opened := c.keys.Load()
	id := uint32(table.StoreID)
	for k := deleted - 5; k < deleted+5; k++ {
		r := &Read{Table: table, Keys: [][]byte{types.EncodeInt(int32(k))}, Now: s.Now().Unix()}
		if got := len(readRows(t, s, r)) == 1; got != (k >= deleted) {
			t.Errorf("partition %d is there: %v", k, got)
		}
	}
	many := func(kind tombstones.Kind, from int32) (n int) {
		for k := from; k < from+100; k++ {
			if s.deletions.FilterOf(id, s.deletions.Clock()).Has(kind, types.Token(types.EncodeInt(k))) {
				n++
			}
		}
		return n
	}
	eventually(t, "tombstones loaded", func() bool { return many(tombstones.OfRange, 0) < 20 })
	if many(tombstones.OfPartition, 0) != 100 || many(tombstones.OfPartition, deleted) > 20 {
		t.Errorf("of 100 partitions %d have tombstones, of 100 others %d",
			many(tombstones.OfPartition, 0), many(tombstones.OfPartition, deleted))
	}
	if most := int64(3*deleted + 1000); opened > most {
		t.Errorf("%d keys were visited to open", opened)
	}
}

// TestDeleteUnderRead deletes a partition, and sweeps, when a read has looked what is known of tombstones and has not
// chosen its snapshot.
func TestDeleteUnderRead(t *testing.T) {
	var now clock
	now.micros.Store(1000 * 1e6)
	i := new(interposed)
	s := open(t, "", Options{
		Now: now.now, SweepEvery: math.MaxInt64,
		Engine: func(f engine.Fold) (_ engine.Engine, err error) {
			i.Engine, err = openEngine("", f)
			return i, err
		},
	})
	defer closeStore(t, s)
	define(t, s, newTable(t, "one", "k int", "", "v int"))
	table := s.Catalog().Table("ks", "one")
	applyEach(t, s, table, 0, 3, writeOne(s, table))
	remove := func(k int32) func() {
		return func() { applyEach(t, s, table, k, k+1, deleteOne(s)) }
	}
	read := func(k int32) int {
		return len(readRows(t, s, &Read{Table: table, Keys: [][]byte{types.EncodeInt(k)}, Now: s.Now().Unix()}))
	}
	before := remove(0) // the first of the table
	i.beforeView.Store(&before)
	if read(0) != 0 {
		t.Error("a partition is there that was deleted before the snapshot was chosen")
	}
	collected := func() { // the tombstone comes into what is collected, and not into what the read knows
		c := s.deletions.RebuildFilter(uint32(table.StoreID), s.usages.Of(uint32(table.StoreID)).AwaitWrites)
		remove(1)()
		c.Add(tombstones.OfPartition, types.Token(types.EncodeInt(0)))
		c.Finish(true)
		remove(2)()
	}
	i.beforeView.Store(&collected)
	if read(2) != 0 {
		t.Error("a partition is there that was deleted after a collection and before the snapshot was chosen")
	}
	for k := range int32(3) {
		if read(k) != 0 {
			t.Errorf("partition %d is there", k)
		}
	}
}

// TestTombstoneFilterMemory gives a store little memory for filters, which the tombstones of one table use up.
func TestTombstoneFilterMemory(t *testing.T) {
	const size = 64 << 10
	for _, limit := range []int64{size, 0} {
		inMemory := func(f engine.Fold) (engine.Engine, error) { return memory.Open(f), nil }
		s, err := Open(Options{Still: true, TombstoneFilters: limit, Log: zerolog.Nop(), Engine: inMemory})
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 1))
		for range size {
			s.deletions.BeginWrite(1, int64(r.Uint64()), [tombstones.Kinds]bool{true, false}, nil).End()
		}
		known, wrong := s.deletions.FilterOf(1, s.deletions.Clock()), 0
		for range 100 {
			if known.Has(tombstones.OfPartition, int64(r.Uint64())) {
				wrong++
			}
		}
		if full := wrong == 100; full != (limit == size) {
			t.Errorf("with %d bytes %d of 100 partitions may have tombstones", limit, wrong)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDeletionCursor draws tombstones of partitions and ranges and asks for those of some partitions in their order:
// it finds what one who looks for each of them does.
func TestDeletionCursor(t *testing.T) {
	table := newTable(t, "t", "k int", "c int", "v int")
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		var stored sortedRows
		var prefixes [][]byte
		for k := range int32(r.IntN(3000)) {
			prefix := rows.AppendPartition(nil, table, 5, types.EncodeInt(k))
			prefixes = append(prefixes, prefix)
			add := func(bounds []byte) {
				key := append(bytes.Clone(prefix), bounds...)
				rows.SetArea(key, 5, rows.AreaTombstones)
				stored = append(stored, engine.Op{Key: key, Value: rows.Tombstone{
					Timestamp: r.Int64N(100),
					Second:    r.Int64N(3),
				}.Append(nil)})
			}
			if r.IntN(2) == 0 {
				add(nil)
			}
			for range r.IntN(3) {
				at := binary.BigEndian.AppendUint16([]byte{rows.KindRow}, uint16(r.IntN(10)))
				add(append(rows.AppendEscaped(nil, at), append(bytes.Clone(at), 0xFF)...))
			}
		}
		slices.SortFunc(stored, func(a, b engine.Op) int { return bytes.Compare(a.Key, b.Key) })
		stored = slices.CompactFunc(stored, func(a, b engine.Op) bool { return bytes.Equal(a.Key, b.Key) })
		slices.SortFunc(prefixes, bytes.Compare)
		var c tombstones.Cursor
		c.Begin(stored, 5, rows.AppendArea(nil, 5, rows.AreaRows), nil)
		step := 1 + r.IntN(200)
		for i := 0; i < len(prefixes); i += 1 + r.IntN(step) {
			var want tombstones.Reader
			var got rows.PartitionTombstones
			want.Begin(tombstones.Unknown)
			if err := errors.Join(want.Load(stored, prefixes[i]), c.Load(&got, prefixes[i])); err != nil {
				t.Fatal(err)
			}
			if want.Any != got.Any || want.Partition != got.Partition || fmt.Sprint(want.Ranges) != fmt.Sprint(got.Ranges) {
				t.Fatalf("seed %d, partition %d: %v instead of %v", seed, i, got, want.PartitionTombstones)
			}
		}
	}
}

// TestPurgeSparesLateTombstones deletes a partition when a sweep has gone through the rows, as of a second before the
// sweep began: the tombstone stays as long as the row does that it hides.
func TestPurgeSparesLateTombstones(t *testing.T) {
	var now clock
	now.micros.Store(1000 * 1e6)
	s, _, table := openCounting(t, "", &now)
	defer closeStore(t, s)
	id := uint32(table.StoreID)
	applyEach(t, s, table, 0, 20, writeOne(s, table))
	applyEach(t, s, table, 0, 1, deleteOne(s))
	now.micros.Add(100 * 1e6)
	late := func(k int32) {
		t.Helper()
		applyEach(t, s, table, k, k+1, func(m *Mutation) {
			m.At(1000)
			m.DeletePartition(s.Timestamp())
		})
	}
	expect := func(what string, want int) {
		t.Helper()
		if got := len(readRows(t, s, &Read{Table: table, Now: s.Now().Unix()})); got != want {
			t.Errorf("%s there are %d rows instead of %d", what, got, want)
		}
	}
	c := s.deletions.RebuildFilter(id, s.usages.Of(id).AwaitWrites)
	w := sweep{
		sweeper: &s.sweeper, id: id, table: table, usage: s.usages.Of(id), purger: rows.NewPurger(table, s.Now().Unix()),
		due: math.MaxInt64,
	}
	w.position = rows.AppendArea(nil, id, rows.AreaRows)
	w.end = rows.Successor(bytes.Clone(w.position))
	var err error
	for more := true; more && err == nil; {
		more, err = w.chunk(t.Context())
	}
	late(1)
	if err := errors.Join(err, w.purgeTombstones(t.Context(), c)); err != nil {
		t.Fatal(err)
	}
	expect("after a sweep beside a deletion", 18)
	if got := countKeys(t, s, table); got != 20 {
		t.Errorf("%d keys are left", got) // 19 rows and a tombstone
	}
	late(2)
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect("after another sweep", 17)
	if got := countKeys(t, s, table); got != 17 {
		t.Errorf("%d keys are left", got)
	}
}
