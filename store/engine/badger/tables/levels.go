package tables

import (
	"bytes"
	"slices"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"

	"github.com/cqld/cqld/store/engine/keys"
)

// levels are the tables that Badger had at some time. Each of them is held, so its file stays mapped.
type levels struct {
	users atomic.Int64 // of the tables: the reader and its cursors
	first []*indexed   // of the first level, the newest first
	lower []level      // those that have tables
	seen  [][]*table.Table
	size  int // bytes of their indexes, about
}

// level is one of those in which no two tables have keys in common, in their order.
type level struct {
	tables []*indexed
	ends   []uint64 // heads of their last keys
	last   bool     // no level below has tables
}

// indexed is a table with its index, which is made when it is asked for first.
type indexed struct {
	*table.Table
	index atomic.Pointer[index]
}

// noIndex is the index of a table that is not made as expected.
var noIndex = new(index)

// get returns the index, or nil if there is none.
func (t *indexed) get() *index {
	x := t.index.Load()
	if x == nil {
		if x = newIndex(t.Table); x == nil {
			x = noIndex
		}
		t.index.Store(x)
	}
	if x == noIndex {
		return nil
	}
	return x
}

// blockSize is about how long a block of Badger's is.
const blockSize = 4 << 10

// newLevels takes the tables that Badger has now. Indexes of those that were there before stay.
func newLevels(in *internals, before *levels) *levels {
	known := map[*table.Table]*indexed{}
	if before != nil {
		before.each(func(t *indexed) { known[t.Table] = t })
	}
	l := &levels{seen: make([][]*table.Table, len(in.levels))}
	l.hold()
	for i, theirs := range in.levels {
		theirs.RLock()
		tables := theirs.tables
		for _, t := range tables {
			t.IncrRef()
		}
		theirs.RUnlock()
		l.seen[i] = tables
		all := make([]*indexed, len(tables))
		for j, t := range tables {
			if all[j] = known[t]; all[j] == nil {
				all[j] = &indexed{Table: t}
			}
			l.size += int(t.Size()) / blockSize * headSize
		}
		switch {
		case i == 0:
			slices.Reverse(all)
			l.first = all
		case len(all) > 0:
			ends := make([]uint64, len(all))
			for j, t := range all {
				ends[j] = keys.Head(withoutVersion(t.Biggest()))
			}
			l.lower = append(l.lower, level{tables: all, ends: ends})
		}
	}
	if n := len(l.lower); n > 0 {
		l.lower[n-1].last = true
	}
	return l
}

// each calls fn for each table.
func (l *levels) each(fn func(*indexed)) {
	for _, t := range l.first {
		fn(t)
	}
	for i := range l.lower {
		for _, t := range l.lower[i].tables {
			fn(t)
		}
	}
}

// areOf reports whether Badger has the same tables now. It looks from the first level down, as what leaves a level is
// in the next one before.
func (l *levels) areOf(in *internals) bool {
	for i := range in.levels {
		if !l.isOf(in, i) {
			return false
		}
	}
	return true
}

// suffice reports whether the tables have all that is in no memtable. They do as long as the first level is the same,
// to which memtables are added: whatever of the others was merged since is here as well. One without tables may have
// had some meanwhile.
func (l *levels) suffice(in *internals) bool {
	return len(l.seen[0]) > 0 && l.isOf(in, 0) || l.areOf(in)
}

// isOf reports whether Badger has the same tables in a level.
func (l *levels) isOf(in *internals, level int) bool {
	theirs, seen := in.levels[level], l.seen[level]
	theirs.RLock()
	now := theirs.tables
	theirs.RUnlock()
	return len(now) == len(seen) && (len(now) == 0 || &now[0] == &seen[0])
}

// hold counts a user in, who has to call release. Nobody has let go of the tables yet.
func (l *levels) hold() { l.users.Add(1) }

// release counts a user out. Nobody holds the tables any more behind the last one, and the files of those are removed
// that Badger has no more.
func (l *levels) release() (err error) {
	if l.users.Add(-1) > 0 {
		return nil
	}
	l.each(func(t *indexed) {
		if e := t.DecrRef(); err == nil {
			err = e
		}
	})
	return err
}

// find finds the newest version of a key that is no newer than version, and the table that it is in.
func (l *levels) find(key []byte, version uint64) (e entry, in *table.Table, s state) {
	hash := y.Hash(key)
	for _, t := range l.first {
		if e, s = t.find(key, version, hash, true); s != absent {
			return e, t.Table, s
		}
	}
	for i := range l.lower {
		in := l.lower[i].from(key)
		if len(in) == 0 {
			continue
		}
		// The last level has most keys that there are, so asking its filter is in vain.
		if e, s = in[0].find(key, version, hash, !l.lower[i].last); s != absent {
			return e, in[0].Table, s
		}
	}
	return entry{}, nil, absent
}

// find finds a key in a table.
func (t *indexed) find(key []byte, version uint64, hash uint32, askFilter bool) (entry, state) {
	x := t.get()
	if x == nil {
		return entry{}, unknown
	}
	if askFilter && len(x.filter) > 0 && !x.filter.MayContain(hash) {
		return entry{}, absent
	}
	return x.find(key, version)
}

// from are the tables from the one on in which a key may be.
func (l *level) from(key []byte) []*indexed { return l.tables[l.place(key):] }

// until are the tables up to the one in which a key may be, or all of them if it has no bytes.
func (l *level) until(key []byte) []*indexed {
	if len(key) == 0 {
		return l.tables
	}
	return l.tables[:min(l.place(key)+1, len(l.tables))]
}

// place is the first table whose last key is not before key.
func (l *level) place(key []byte) int {
	head := keys.Head(key)
	low := lowerBound(l.ends, head, len(l.ends)/2)
	high := upperBound(l.ends, head, low)
	return low + firstTable(l.tables[low:high], key)
}

// firstTable is the first of some tables whose last key is not before key.
func firstTable(tables []*indexed, key []byte) int {
	low, high := 0, len(tables)
	for mid := 0; low < high; mid = int(uint(low+high) >> 1) { // the first one is it most of the time
		if bytes.Compare(withoutVersion(tables[mid].Biggest()), key) < 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}
