package tables

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/cqld/cqld/store/engine/keys"
)

// Sizes of the databases of these tests: small, so that they have many tables in several levels.
const (
	smallMemtable = 256 << 10
	smallTable    = 32 << 10
	smallValue    = 400 // longer ones are in the value log
)

// database is a database of Badger's whose transactions are numbered, and a reader of it.
type database struct {
	*badger.DB
	*Reader
	version uint64
	asked   int // keys
	unknown int // of them, were left to Badger though their values are in tables
	refused int // keys that were left to Badger though it need not be, or groups of keys
	deleted int // keys that scans came to
}

// open opens a database.
func open(t *testing.T, dir string) *database {
	t.Helper()
	return openWith(t, dir, options.None, enough)
}

// enough is enough memory for the indexes of these tests.
const enough = 1 << 20

// openWith opens a database whose tables are compressed in some way, and whose indexes may have so many bytes.
func openWith(t *testing.T, dir string, compression options.CompressionType, most int64) *database {
	t.Helper()
	o := badger.DefaultOptions(dir).WithLogger(nil).WithCompression(compression).WithBlockCacheSize(0).
		WithMemTableSize(smallMemtable).WithBaseTableSize(smallTable).WithBaseLevelSize(4 * smallTable).
		WithNumLevelZeroTables(3).WithDetectConflicts(false).WithValueThreshold(smallValue).WithNumVersionsToKeep(1)
	if compression != options.None {
		o = o.WithBlockCacheSize(1 << 20)
	}
	db, err := badger.OpenManaged(o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(db, most, func(err error) { t.Errorf("a table was not removed: %v", err) })
	if err != nil {
		t.Fatal(err)
	}
	return &database{DB: db, Reader: r, version: db.MaxVersion()}
}

// close closes the database.
func (d *database) close(t *testing.T) {
	t.Helper()
	if d.unknown > d.asked/20 {
		t.Errorf("%d of %d keys were left to Badger", d.unknown, d.asked)
	}
	if d.refused > d.asked/20 {
		t.Errorf("of %d keys, %d were not found together with others", d.asked, d.refused)
	}
	d.Reader.Close()
	if err := d.DB.Close(); err != nil {
		t.Fatal(err)
	}
}

// similarKeys are keys that are hard to tell apart: some begin with others, some go on with bytes that sort like
// versions.
func similarKeys(n int) [][]byte {
	tails := [][]byte{
		nil, {0}, {0, 0}, {0xFF}, bytes.Repeat([]byte{0xFF}, 8), bytes.Repeat([]byte{0}, 8), bytes.Repeat([]byte{0xFF}, 12),
	}
	var all [][]byte
	for i := 0; len(all) < n; i++ {
		var key []byte
		switch i % 4 {
		case 0:
			key = fmt.Appendf(nil, "many rows of one partition %06d", i)
		case 1:
			key = binary.BigEndian.AppendUint64(nil, uint64(i)*0x9E3779B97F4A7C15)
		case 2:
			key = fmt.Appendf(nil, "k%d", i)
		default:
			key = append(bytes.Repeat([]byte{'x'}, i%40), byte(i), byte(i>>8))
		}
		for _, tail := range tails {
			all = append(all, append(bytes.Clone(key), tail...))
		}
	}
	return all[:n]
}

// writeSome writes or deletes some keys in a transaction.
func (d *database) writeSome(r *rand.Rand, keys [][]byte, n int) error {
	txn := d.NewTransactionAt(d.version, true)
	defer txn.Discard()
	for range n {
		key := keys[r.IntN(len(keys))]
		var err error
		switch r.IntN(10) {
		case 0:
			err = txn.Delete(key)
		case 1:
			err = txn.Set(key, bytes.Repeat([]byte{byte(d.version)}, smallValue+r.IntN(200)))
		default:
			err = txn.Set(key, fmt.Appendf(nil, "%d %s", d.version, bytes.Repeat([]byte("v"), r.IntN(200))))
		}
		if err != nil {
			return err
		}
	}
	d.version++
	return txn.CommitAt(d.version, nil)
}

// fill writes in so many transactions.
func (d *database) fill(t *testing.T, r *rand.Rand, keys [][]byte, transactions int) {
	t.Helper()
	for range transactions {
		if err := d.writeSome(r, keys, 100); err != nil {
			t.Fatal(err)
		}
	}
}

// expectSame compares what the reader finds with what Badger finds, and returns how many keys were left to Badger.
func (d *database) expectSame(t *testing.T, asked [][]byte, version uint64) (left int) {
	t.Helper()
	txn := d.NewTransactionAt(version, false)
	d.asked += len(asked)
	all := make([]expected, len(asked))
	for i, key := range asked {
		var want, got []byte
		item, err := txn.Get(key)
		if err == nil {
			want, err = item.ValueCopy(nil)
		}
		if err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
			t.Fatal(err)
		}
		found, known, err := d.Get(key, version, func(value []byte) error {
			got = bytes.Clone(value)
			return nil
		})
		switch {
		case err != nil:
			t.Fatal(err)
		case !known && len(want) >= smallValue:
			left++
		case !known:
			d.unknown++
		case found != (want != nil) || !bytes.Equal(got, want):
			t.Fatalf("key %q at %d: %v %.60q, want %.60q", key, version, found, got, want)
		}
		all[i] = expected{want, known}
	}
	for from, n := 0, 0; from < len(asked); from += n {
		n = min(1+from%keys.AtOnce, len(asked)-from)
		d.expectSeveral(t, asked[from:from+n], version, all[from:])
	}
	return left
}

// expected is what the reader has to find for a key.
type expected struct {
	value []byte
	known bool
}

// expectSeveral looks for keys at the same time.
func (d *database) expectSeveral(t *testing.T, keys [][]byte, version uint64, want []expected) {
	t.Helper()
	s := d.Several(keys, version)
	if s == nil {
		d.refused++
		return
	}
	defer s.Close()
	for i, key := range keys {
		value, found, known := s.Value(i)
		switch {
		case !known && want[i].known:
			d.refused++
		case known && (found != (want[i].value != nil) || !bytes.Equal(value, want[i].value)):
			t.Fatalf("key %d, %q at %d: %v %.60q, want %.60q", i, key, version, found, value, want[i].value)
		}
	}
}

// TestGet writes and deletes keys at random, in many transactions, and looks for all of them in snapshots of now and
// of before, while they are in memtables and when they are in tables.
func TestGet(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	all := similarKeys(3000)
	written := all[:2000]
	r := rand.New(rand.NewPCG(1, 2))
	left, levels := 0, 0
	for round := range 12 {
		before := d.version
		d.fill(t, r, written, 40)
		left += d.expectSame(t, all, d.version)
		left += d.expectSame(t, all, before)
		left += d.expectSame(t, all, before+20)
		d.SetDiscardTs(before)
		if round%4 == 3 {
			d.close(t)
			d = open(t, dir) // the memtable is a table of the first level
			levels = max(levels, d.filledLevels())
			left += d.expectSame(t, all, d.version)
		}
	}
	if left == 0 {
		t.Error("no value was in the value log")
	}
	if levels < 3 {
		t.Errorf("at most %d levels had tables", levels)
	}
	d.close(t)
}

// filledLevels is how many levels have tables.
func (d *database) filledLevels() (n int) {
	for _, l := range d.Levels() {
		if l.NumTables > 0 {
			n++
		}
	}
	return n
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("never: %s", what)
		}
	}
}

// TestGetBesideMerges looks for keys while others are written and tables are merged and removed. What a snapshot has
// stays as it is.
func TestGetBesideMerges(t *testing.T) {
	d := open(t, t.TempDir())
	all := similarKeys(1500)
	r := rand.New(rand.NewPCG(3, 4))
	d.fill(t, r, all, 100)
	d.SetDiscardTs(d.version)
	seen := d.version
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := d.writeSome(r, all, 100); err != nil {
				t.Error(err)
				return
			}
		}
	})
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				d.Forget()
			}
		}
	})
	for range 10 {
		d.expectSame(t, all, seen)
	}
	d.unknown, d.refused = 0, 0 // of a reader that forgets all the time
	close(stop)
	wg.Wait()
	d.expectSame(t, all, d.version)
	d.close(t)
}

// TestForget looks that the files of tables are removed that Badger has no more.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	all := similarKeys(1000)
	r := rand.New(rand.NewPCG(5, 6))
	d.fill(t, r, all, 100)
	d.load(t)
	d.SetDiscardTs(d.version)
	d.fill(t, r, all, 100)
	if err := d.Flatten(1); err != nil {
		t.Fatal(err)
	}
	files := func() int {
		found, err := filepath.Glob(filepath.Join(dir, "*.sst"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	if held, now := files(), len(d.Tables()); held <= now {
		t.Errorf("there are %d files of %d tables, though the reader has others", held, now)
	}
	eventually(t, "there are only files of tables", func() bool {
		d.Forget()
		return files() == len(d.Tables())
	})
	d.expectSame(t, all, d.version)
	d.close(t)
	if found, known, err := d.Get(all[0], d.version, nil); found || known || err != nil {
		t.Errorf("after the end: %v %v %v", found, known, err)
	}
}

// TestEmptyFirstLevel writes more while a reader has a first level without tables, until it is without tables again.
func TestEmptyFirstLevel(t *testing.T) {
	d := open(t, t.TempDir())
	all := similarKeys(1000)
	r := rand.New(rand.NewPCG(19, 20))
	for range 2 {
		d.fill(t, r, all, 100)
		eventually(t, "the first level has no tables and the others have some", func() bool {
			if err := d.Flatten(1); err != nil {
				t.Fatal(err)
			}
			return d.Levels()[0].NumTables == 0 && d.filledLevels() > 0
		})
		d.expectSame(t, all, d.version)
	}
	d.close(t)
}

// TestDamagedBlock changes bytes of blocks: a key is found, or not, or it is not known whether it is there.
func TestDamagedBlock(t *testing.T) {
	d := open(t, t.TempDir())
	defer d.close(t)
	all := similarKeys(2000)
	r := rand.New(rand.NewPCG(7, 8))
	d.fill(t, r, all, 60)
	unsure := 0
	d.eachTable(t, func(table *indexed) {
		whole := table.get()
		x := *whole
		sound := x.data
		table.index.Store(&x)
		defer table.index.Store(whole)
		for range 300 {
			x.data = bytes.Clone(sound)
			for range 1 + r.IntN(4) {
				x.data[r.IntN(len(x.data))] = byte(r.Uint32())
			}
			x.perBlock = 1 + r.IntN(1<<r.IntN(32)) // what is fetched depends on it, what is found does not
			i := r.IntN(len(x.starts) - 1)
			x.data[x.starts[i+1]-1-uint32(r.IntN(16))] ^= byte(1 + r.IntN(255)) // where its parts are
			for range 20 {
				if _, s := x.find(all[r.IntN(len(all))], d.version); s == unknown {
					unsure++
				}
			}
			some := make([][]byte, keys.AtOnce)
			for i := range some {
				some[i] = all[r.IntN(len(all))]
			}
			if s := d.Several(some, d.version); s != nil {
				s.Close()
			}
		}
	})
	if unsure == 0 {
		t.Error("no damage was seen")
	}
}

// TestLeftToBadger leaves compressed tables to Badger, and tables that there is no memory for.
func TestLeftToBadger(t *testing.T) {
	for _, d := range []*database{
		openWith(t, t.TempDir(), options.Snappy, enough), openWith(t, t.TempDir(), options.None, headSize),
	} {
		all := similarKeys(1001)
		d.fill(t, rand.New(rand.NewPCG(11, 12)), all[:1000], 60)
		d.load(t)
		d.expectSame(t, all, d.version)
		if d.unknown == 0 {
			t.Error("no key was left to Badger")
		}
		d.unknown, d.refused = 0, 0
		d.close(t)
	}
}

// load has the reader take the tables, when Badger has made some.
func (d *database) load(t *testing.T) {
	t.Helper()
	eventually(t, "there are tables", func() bool { return len(d.Tables()) > 0 })
	if !d.refresh() {
		t.Fatal("the reader is closed")
	}
}

// eachTable calls fn for each table that the reader has now. Their files stay, whatever Badger merges.
func (d *database) eachTable(t *testing.T, fn func(*indexed)) {
	t.Helper()
	d.load(t)
	d.mu.RLock()
	held := d.levels
	held.hold()
	d.mu.RUnlock()
	held.each(fn)
	if err := held.release(); err != nil {
		t.Fatal(err)
	}
}

// TestInternals finds out when Badger is made otherwise.
func TestInternals(t *testing.T) {
	d := open(t, t.TempDir())
	defer d.close(t)
	all := similarKeys(1000)
	r := rand.New(rand.NewPCG(9, 10))
	d.fill(t, r, all, 100)
	if err := d.Flatten(1); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the reader has the tables that Badger has", func() bool { // which may be merging some
		d.load(t)
		for i, l := range d.Levels() {
			if len(d.levels.seen[i]) != l.NumTables {
				return false
			}
		}
		return true
	})
}
