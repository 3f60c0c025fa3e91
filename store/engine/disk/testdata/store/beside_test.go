package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/rows"
)

// BenchmarkBeside does the same to the store and to Badger alone, which keeps the same bytes under the same keys, in
// turns, and reports how much processor time the store needs for each that Badger needs. Of writes all rounds count,
// with what Badger does in the background on both sides. Reads have nothing of that, so of them the quickest rounds
// count: what else the machine does is left out.
func BenchmarkBeside(b *testing.B) {
	const rows = 100000
	for _, op := range []string{"insert", "update", "get", "slice", "scan"} {
		b.Run(op, func(b *testing.B) {
			var store, raw time.Duration
			reads := op != "insert" && op != "update"
			rounds := map[string]int{"insert": 3, "update": 3, "get": 12, "slice": 50, "scan": 50}[op]
			for range b.N {
				s, t := benchStore(b, "")
				alone := openRaw(b)
				if op != "insert" {
					insertRows(b, s, t, rows)
					alone.insert(b, 0, rows)
				}
				var ours, theirs []time.Duration
				for round := range rounds {
					theirs = append(theirs, processorTime(func() { alone.run(b, op, round*rows, rows) }))
					ours = append(ours, processorTime(func() { runStore(b, s, t, op, round*rows, rows) }))
				}
				store, raw = store+roundTime(ours, reads), raw+roundTime(theirs, reads)
			}
			b.ReportMetric(float64(store)/float64(raw), "times-badger")
			b.ReportMetric(float64(store.Nanoseconds())/float64(b.N*rows), "cpu-ns/row")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// roundTime is what a round counts for: the quickest one, or the mean.
func roundTime(rounds []time.Duration, quickest bool) time.Duration {
	if quickest {
		return slices.Min(rounds)
	}
	var sum time.Duration
	for _, d := range rounds {
		sum += d
	}
	return sum / time.Duration(len(rounds))
}

// BenchmarkAllocations reads the same rows from the store and from Badger as one does who thinks of nothing, and
// reports what a row of each takes in allocations.
func BenchmarkAllocations(b *testing.B) {
	const rows = 20000
	for _, op := range []string{"get", "get again", "slice", "scan"} {
		b.Run(op, func(b *testing.B) {
			s, t := benchStore(b, "")
			insertRows(b, s, t, rows)
			op, again := strings.CutSuffix(op, " again")
			for range 4 { // what is read again and again is kept in memory
				if again {
					runStore(b, s, t, op, 0, rows)
				}
			}
			alone := openRaw(b)
			alone.insert(b, 0, rows)
			var store, naive uint64
			for range b.N {
				store += allocations(func() { runStore(b, s, t, op, 0, rows) })
				naive += allocations(func() { alone.naive(b, op, rows) })
			}
			b.ReportMetric(float64(store)/float64(b.N*rows), "allocs/row")
			b.ReportMetric(float64(naive)/float64(b.N*rows), "naive-allocs/row")
			b.ReportMetric(float64(store)/float64(naive), "times-naive")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// allocations is how often fn allocates.
func allocations(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

// naive reads rows with a transaction and Badger's defaults for each read, and takes them apart.
func (r *raw) naive(b *testing.B, op string, n int) {
	b.Helper()
	found := 0
	take := func(item *badgerdb.Item) {
		value, err := item.ValueCopy(nil)
		if err != nil {
			b.Fatal(err)
		}
		cells := map[byte][]byte{}
		for rest := value[10:]; len(rest) >= 103; rest = rest[103:] {
			cells[rest[0]] = rest[3:103]
		}
		found += len(cells) / 5
	}
	read := func(from, to []byte, most int) {
		txn := r.db.NewTransactionAt(r.version, false)
		defer txn.Discard()
		it := txn.NewIterator(badgerdb.DefaultIteratorOptions)
		defer it.Close()
		for it.Seek(from); it.Valid() && most > 0; it.Next() {
			item := it.Item()
			if to != nil && bytes.Compare(item.KeyCopy(nil), to) > 0 {
				return
			}
			take(item)
			most--
		}
	}
	switch op {
	case "get":
		for i := range n {
			txn := r.db.NewTransactionAt(r.version, false)
			if item, err := txn.Get(r.key(i)); err == nil {
				take(item)
			}
			txn.Discard()
		}
	case "slice":
		for i := 0; i < n; i += 100 {
			read(r.key(i), r.key(i+99), 100)
		}
	case "scan":
		read(nil, nil, n)
	}
	checkFound(b, found, n)
}

// raw is Badger alone: managed and without what the store does not use either.
type raw struct {
	db      *badgerdb.DB
	version uint64
}

func openRaw(b *testing.B) *raw {
	b.Helper()
	o := badgerdb.DefaultOptions("").WithInMemory(true).WithLogger(nil).
		WithDetectConflicts(false).WithMetricsEnabled(false).
		WithCompression(options.None).WithBlockCacheSize(0).WithNumVersionsToKeep(1)
	db, err := badgerdb.OpenManaged(o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return &raw{db: db}
}

// key is the store's key of a row: table, token, partition, clustering.
func (r *raw) key(i int) []byte {
	var k, c [8]byte
	benchKey(k[:], c[:], i)
	key := binary.BigEndian.AppendUint32(nil, 2001)
	key = rows.AppendEscaped(rows.AppendToken(key, types.Token(k[:])), k[:])
	return types.BigInt.AppendKey(append(key, rows.KindRow), c[:], false)
}

// commit writes n rows in transactions of 64.
func (r *raw) commit(b *testing.B, from, n int, value func(txn *badgerdb.Txn, i int) []byte) {
	b.Helper()
	for i := from; i < from+n; i += 64 {
		txn := r.db.NewTransactionAt(r.version, true)
		for j := i; j < min(i+64, from+n); j++ {
			if err := txn.Set(r.key(j), value(txn, j)); err != nil {
				b.Fatal(err)
			}
		}
		r.version++
		if err := txn.CommitAt(r.version, nil); err != nil {
			b.Fatal(err)
		}
		r.db.SetDiscardTs(r.version)
	}
}

// rowBytes are as many as the store keeps of such a row: a marker and five cells of 100 bytes.
const rowBytes = 10 + 5*103

// insert makes a row's bytes of its values, as they come.
func (r *raw) insert(b *testing.B, from, n int) {
	b.Helper()
	value := bytes.Repeat([]byte("x"), 100)
	r.commit(b, from, n, func(_ *badgerdb.Txn, i int) []byte {
		row := make([]byte, 10, rowBytes)
		binary.BigEndian.PutUint64(row, uint64(i))
		for column := range 5 {
			row = append(append(row, byte(column), 0, 100), value...)
		}
		return row
	})
}

// run does an operation with as many rows.
func (r *raw) run(b *testing.B, op string, from, n int) {
	b.Helper()
	txn := r.db.NewTransactionAt(r.version, false)
	defer txn.Discard()
	found := 0
	switch op {
	case "insert":
		r.insert(b, from, n)
		return
	case "update":
		r.commit(b, 0, n, func(txn *badgerdb.Txn, i int) []byte {
			value, err := r.get(txn, i)
			if err != nil {
				b.Fatal(err)
			}
			copy(value[200:300], "yyyyyyyyyy")
			return value
		})
		return
	case "get":
		for i := range n {
			if _, err := r.get(txn, i*7919%n); err == nil {
				found++
			}
		}
	case "slice":
		for i := 0; i < n; i += 100 {
			found += r.scan(b, txn, r.key(i), r.key(i+100), 100)
		}
	case "scan":
		found = r.scan(b, txn, nil, nil, n)
	}
	checkFound(b, found, n)
}

func (r *raw) get(txn *badgerdb.Txn, i int) ([]byte, error) {
	item, err := txn.Get(r.key(i))
	if err != nil {
		return nil, fmt.Errorf("get row %d: %w", i, err)
	}
	return item.ValueCopy(nil)
}

// scan visits up to n rows from a key on.
func (r *raw) scan(b *testing.B, txn *badgerdb.Txn, from, to []byte, n int) (found int) {
	b.Helper()
	o := badgerdb.IteratorOptions{}
	for i := range from {
		if from[i] != to[i] {
			o.Prefix = from[:i]
			break
		}
	}
	it := txn.NewIterator(o)
	defer it.Close()
	for it.Seek(from); it.Valid() && found < n; it.Next() {
		if err := it.Item().Value(func([]byte) error { found++; return nil }); err != nil {
			b.Fatal(err)
		}
	}
	return found
}
