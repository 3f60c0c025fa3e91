package tables

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

// shown is a key of a scan and its value.
type shown struct{ key, value string }

// scanned are the keys that Badger has in a range, without deleted ones, which a merge may take away at any time.
func (d *database) scanned(t *testing.T, version uint64, start, end []byte) (all []shown) {
	t.Helper()
	it := d.NewTransactionAt(version, false).NewIterator(badger.IteratorOptions{AllVersions: true})
	defer it.Close()
	var last []byte
	for it.Seek(start); it.Valid(); it.Next() {
		key := it.Item().KeyCopy(nil)
		if last != nil && bytes.Equal(key, last) {
			continue
		}
		if last = key; len(end) > 0 && bytes.Compare(key, end) >= 0 {
			break
		}
		if it.Item().IsDeletedOrExpired() {
			continue
		}
		value, err := it.Item().ValueCopy(nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, shown{key: string(key), value: string(value)})
	}
	return all
}

// expectScan compares a scan with one of Badger's, forward and in reverse. It seeks over some keys. ok is false if
// Badger merged tables.
func (d *database) expectScan(t *testing.T, version uint64, start, end []byte, r *rand.Rand) (ok bool) {
	t.Helper()
	want := d.scanned(t, version, start, end)
	ok = d.expectOrder(t, version, start, end, false, want, r)
	slices.Reverse(want)
	return d.expectOrder(t, version, start, end, true, want, r) && ok
}

// expectOrder expects what a scan comes to.
func (d *database) expectOrder(
	t *testing.T, version uint64, start, end []byte, reverse bool, want []shown, r *rand.Rand,
) (ok bool) {
	t.Helper()
	c := d.Cursor(version, start, end, reverse)
	if c == nil {
		return false
	}
	defer c.Close()
	over := 1 + r.IntN(20)
	first := start
	if reverse {
		first = end
	}
	for c.Seek(first); c.Valid(); {
		key := c.Key()
		if !reverse && len(end) > 0 && bytes.Compare(key, end) >= 0 || reverse && bytes.Compare(key, start) < 0 {
			break
		}
		if c.Deleted() {
			d.deleted++
			c.Next()
			continue
		}
		if len(want) == 0 {
			t.Fatalf("from %q to %q at %d, reverse %v: %q is too much", start, end, version, reverse, key)
		}
		got := shown{key: string(key)}
		if value, known := c.Value(); known {
			got.value = string(value)
		} else if len(want[0].value) >= smallValue {
			got.value = want[0].value
		}
		if got != want[0] {
			t.Fatalf("from %q to %q at %d, reverse %v: %+v, want %+v", start, end, version, reverse, got, want[0])
		}
		if n := r.IntN(over); n > 1 && n < len(want) {
			if want = want[n:]; reverse {
				c.Seek(append([]byte(want[0].key), 0))
			} else {
				c.Seek([]byte(want[0].key))
			}
			continue
		}
		want = want[1:]
		c.Next()
	}
	if from, broken := c.Broken(); broken {
		t.Fatalf("broken at %q", from)
	}
	if len(want) > 0 {
		t.Fatalf("from %q to %q at %d, reverse %v: %q is missing", start, end, version, reverse, want[0].key)
	}
	return true
}

// TestCursor scans ranges at random, and those that begin with the last key of a table.
func TestCursor(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	all := similarKeys(3000)
	r := rand.New(rand.NewPCG(13, 14))
	scans, done := 0, 0
	for round := range 8 {
		before := d.version
		few := all[:2000]
		if round%2 == 1 {
			few = few[1000:1050] // which get many versions
		}
		d.fill(t, r, few, 40)
		for _, version := range []uint64{d.version, before, before + 20} {
			for i := range 40 {
				start, end := all[r.IntN(len(all))], all[r.IntN(len(all))]
				if tables := d.Tables(); i%2 == 0 && len(tables) > 0 {
					start = withoutVersion(tables[r.IntN(len(tables))].Right)
				}
				if bytes.Compare(start, end) > 0 {
					start, end = end, start
				}
				switch i {
				case 0:
					start, end = nil, []byte{}
				case 1:
					end = nil
				}
				scans++
				if d.expectScan(t, version, start, end, r) {
					done++
				}
			}
		}
		d.SetDiscardTs(before)
	}
	if done < scans*9/10 {
		t.Errorf("%d of %d scans were left to Badger", scans-done, scans)
	}
	if d.deleted == 0 {
		t.Error("no scan came to a deleted key")
	}
	d.close(t)
	d = open(t, dir) // the memtable is a table now
	first := 0
	for _, table := range d.Tables() {
		if d.expectScan(t, d.version, withoutVersion(table.Right), nil, r) && table.Level == 0 {
			first++
		}
	}
	if first == 0 {
		t.Error("the first level has no tables")
	}
	d.close(t)
}

// TestDamagedScan changes bytes of blocks: a scan ends, and if it is broken it says from where on. No key is deleted,
// so that it is known what a scan has to come to.
func TestDamagedScan(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	all := similarKeys(2000)
	r := rand.New(rand.NewPCG(15, 16))
	d.fill(t, r, all, 60)
	for _, key := range all {
		txn := d.NewTransactionAt(d.version, true)
		if err := txn.Set(key, []byte("v")); err != nil {
			t.Fatal(err)
		}
		d.version++
		if err := txn.CommitAt(d.version, nil); err != nil {
			t.Fatal(err)
		}
	}
	d.close(t)
	d = open(t, dir) // the memtable is a table now
	breaks := 0
	want := d.scanned(t, d.version, nil, nil)
	d.eachTable(t, func(table *indexed) {
		sound := table.get()
		for range 20 {
			x := *sound
			x.data = bytes.Clone(sound.data)
			i := r.IntN(len(x.starts) - 1)
			if r.IntN(2) == 0 {
				x.data[x.starts[i+1]-9-uint32(r.IntN(80))] ^= byte(1 + r.IntN(255)) // where its parts are
			} else {
				x.data[x.starts[i]+uint32(r.IntN(60))] ^= byte(1 + r.IntN(255)) // of its first keys
			}
			table.index.Store(&x)
			for _, reverse := range []bool{false, true} {
				if d.scanDamaged(t, reverse, want) {
					breaks++
				}
			}
		}
		table.index.Store(sound)
	})
	if breaks == 0 {
		t.Error("no damage was seen")
	}
	d.close(t)
}

// TestSeekBehind looks that a source fails where a seek comes to an entry that was passed.
func TestSeekBehind(t *testing.T) {
	d := open(t, t.TempDir())
	all := similarKeys(2000)
	d.fill(t, rand.New(rand.NewPCG(17, 18)), all, 60)
	tables := 0
	d.eachTable(t, func(table *indexed) {
		tables++
		seek := func(key []byte, reverse bool) *source {
			s := &source{version: d.version, tables: []*indexed{table}, reverse: reverse}
			s.seek(key)
			return s
		}
		var keys [][]byte
		for s := seek(nil, false); s.valid; s.next() {
			keys = append(keys, bytes.Clone(s.key))
		}
		middle := keys[len(keys)/2]
		for _, reverse := range []bool{false, true} {
			first := keys[0]
			if reverse {
				first = nil
			}
			s := seek(first, reverse)
			s.seek(middle)
			if !s.valid || s.failed {
				t.Fatalf("on: valid %v, failed %v, reverse %v", s.valid, s.failed, reverse)
			}
			s.seek(first)
			if s.valid || !s.failed {
				t.Errorf("back: valid %v, failed %v, reverse %v", s.valid, s.failed, reverse)
			}
		}
	})
	if tables == 0 {
		t.Error("there are no tables")
	}
	d.close(t)
}

// scanDamaged scans all keys of a damaged table: want, if it were sound. It reports whether the scan is broken.
func (d *database) scanDamaged(t *testing.T, reverse bool, want []shown) bool {
	t.Helper()
	c := d.Cursor(d.version, nil, nil, reverse)
	if c == nil {
		return false
	}
	defer c.Close()
	n, most := 0, 10*len(want)
	for c.Seek(nil); c.Valid() && n < most; c.Next() {
		n++
	}
	if n == most {
		t.Errorf("a scan has no end, reverse %v", reverse)
	}
	from, broken := c.Broken()
	if broken && n > 0 && n < len(want) {
		late := string(from) > want[n].key
		if reverse {
			late = string(from) <= want[len(want)-1-n].key
		}
		if late {
			t.Errorf("behind %d keys it is broken at %q, reverse %v", n, from, reverse)
		}
	}
	return broken
}
