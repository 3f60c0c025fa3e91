package tombstones

import (
	"sync"

	"github.com/cqld/cqld/store/bloom"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// maxTombstoneFilters is the memory of all filters, unless Options say: enough for 20 million partitions.
const maxTombstoneFilters = 32 << 20

// Kind is the extent of a tombstone.
type Kind uint8

// The kinds.
const (
	OfPartition Kind = iota // OfPartition deletes a partition.
	OfRange                 // OfRange deletes a range of rows.
	Kinds                   // Kinds is their number.
)

// Filter has the partitions of a table that may have tombstones. A nil Filter has none.
type Filter struct {
	since  uint64
	mu     sync.RWMutex
	filter *bloom.Filter // of tokens and kinds; nil: each partition may have tombstones
	next   *Filter       // is made, or was, to take the place of this one
}

// Unknown is for a table of which nothing is known.
var Unknown = new(Filter)

// tombstoneHash is the hash of a kind of tombstones of a partition.
func tombstoneHash(kind Kind, token int64) uint64 {
	return uint64(token) ^ uint64(kind)*0x9E3779B97F4A7C15
}

// Has reports whether the partition of a token may have a tombstone of a kind.
func (f *Filter) Has(kind Kind, token int64) bool {
	if f == nil {
		return false
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.filter == nil || f.filter.Has(tombstoneHash(kind, token))
}

// Any reports whether the table may have a tombstone.
func (f *Filter) Any() bool {
	if f == nil {
		return false
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.filter == nil || f.filter.Count() > 0
}

// Add adds a partition. Without room for it nothing is known any more.
func (f *Filter) Add(kind Kind, token int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.filter != nil {
		if _, ok := f.filter.Add(tombstoneHash(kind, token)); !ok {
			f.free()
		}
	}
	if f.next != nil {
		f.next.Add(kind, token)
	}
}

// free gives the memory back. Readers that still use the filter look for tombstones. mu is held.
func (f *Filter) free() {
	if f.filter != nil {
		f.filter.Free()
		f.filter = nil
	}
}

// replaceWith makes another filter the one that is made to take the place of this one. free says that it does.
func (f *Filter) replaceWith(next *Filter, free bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next = next; free {
		f.free()
	}
}

func (d *Tracker) newFilter() *Filter {
	return &Filter{filter: bloom.New(d.budget)}
}

// Forget forgets a table.
func (d *Tracker) Forget(id uint32) {
	d.forgot.Store(d.tick())
	if f := d.filters.Drop(id); f != nil {
		f.replaceWith(nil, true)
	}
}

// FilterOf returns the filter of a table for the snapshot of a read that asked the clock.
func (d *Tracker) FilterOf(id uint32, clock uint64) *Filter {
	if d.shared {
		if marked := d.marked.Load(); marked != nil {
			if _, ok := (*marked)[id]; !ok {
				return nil
			}
		}
		return Unknown
	}
	f := d.filters.All()[id]
	if f == nil && clock < d.forgot.Load() || f != nil && clock < f.since {
		return Unknown
	}
	return f
}

// Rebuild makes the filter of a table anew, of the tombstones that are left.
type Rebuild struct {
	*Filter
	deletions *Tracker
	id        uint32
	old       *Filter // nil: the rebuild is over, or there is none to be replaced
}

// RebuildFilter begins to make the filter of a table anew. The caller then adds the stored tombstones; writers add
// theirs from now on. awaitWrites waits for the writes that are being committed, whose tombstones the caller has to
// find. It returns nil if the table has no tombstones.
func (d *Tracker) RebuildFilter(id uint32, awaitWrites func()) *Rebuild {
	c := &Rebuild{d.newFilter(), d, id, nil}
	if d.shared {
		return c
	}
	d.making.Lock()
	if c.old = d.filters.All()[id]; c.old == nil {
		d.making.Unlock()
		return nil
	}
	c.old.replaceWith(c.Filter, false)
	waited := false
	defer func() {
		if !waited { // it panicked
			c.Finish(false)
		}
	}()
	awaitWrites()
	waited = true
	return c
}

// Finish replaces the old filter if the new one has all tombstones. Only the first call counts. A writer that still
// adds to the old filter adds to the new one too.
func (c *Rebuild) Finish(whole bool) {
	d, old := c.deletions, c.old
	if old == nil {
		return
	}
	c.old, c.since = nil, d.tick()
	if whole && d.filters.Replace(c.id, old, c.Filter) {
		old.replaceWith(c.Filter, true)
	} else {
		old.replaceWith(nil, false)
		c.replaceWith(nil, true)
	}
	d.making.Unlock()
}

// EachKey calls fn for the tombstones that a table has stored.
func EachKey(r engine.Reader, id uint32, fn func(kind Kind, token int64) (bool, error)) error {
	start, end := rows.AppendArea(nil, id, rows.AreaTombstones), rows.AppendArea(nil, id, rows.AreaRows)
	return r.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
		n := rows.PartitionPrefixLength(key)
		if n < 0 {
			return false, rows.ErrKey
		}
		return fn(KindOf(key, n), rows.TokenOf(key))
	})
}

// KindOf returns the kind of the tombstone with a key. prefix is the length of the partition's key.
func KindOf(key []byte, prefix int) Kind {
	if len(key) == prefix {
		return OfPartition
	}
	return OfRange
}

// TablesWithAny returns the tables that have tombstones.
func TablesWithAny(r engine.Reader, ids map[[16]byte]uint32) (some []uint32, err error) {
	for _, id := range ids {
		err = EachKey(r, id, func(Kind, int64) (bool, error) {
			some = append(some, id)
			return false, nil
		})
		if err != nil {
			break
		}
	}
	return some, err
}
