package store

import (
	"sync"

	"github.com/cqld/cqld/store/bloom"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// maxTombstoneFilters is the memory of all filters, unless Options say: enough for 20 million partitions.
const maxTombstoneFilters = 32 << 20

// tombstoneKind is what a tombstone deletes.
type tombstoneKind uint8

const (
	ofPartition tombstoneKind = iota
	ofRange
	tombstoneKinds
)

// tombstoneFilter is what is known of a table's tombstones. nil: there are none.
type tombstoneFilter struct {
	since  uint64
	mu     sync.RWMutex
	filter *bloom.Filter    // of tokens and kinds; nil: each partition may have tombstones
	next   *tombstoneFilter // is made, or was, to take the place of this one
}

// unknownTombstones is for a table of which nothing is known.
var unknownTombstones = new(tombstoneFilter)

// tombstoneHash is what a filter has for a kind of tombstones of a partition.
func tombstoneHash(kind tombstoneKind, token int64) uint64 {
	return uint64(token) ^ uint64(kind)*0x9E3779B97F4A7C15
}

// has reports whether the partition of a token may have a tombstone of a kind.
func (f *tombstoneFilter) has(kind tombstoneKind, token int64) bool {
	if f == nil {
		return false
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.filter == nil || f.filter.Has(tombstoneHash(kind, token))
}

// any reports whether the table may have a tombstone.
func (f *tombstoneFilter) any() bool {
	if f == nil {
		return false
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.filter == nil || f.filter.Count() > 0
}

// add adds a partition. Without room for it nothing is known any more.
func (f *tombstoneFilter) add(kind tombstoneKind, token int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.filter != nil {
		if _, ok := f.filter.Add(tombstoneHash(kind, token)); !ok {
			f.free()
		}
	}
	if f.next != nil {
		f.next.add(kind, token)
	}
}

// free gives the memory back. Readers that still use the filter look for tombstones. mu is held.
func (f *tombstoneFilter) free() {
	if f.filter != nil {
		f.filter.Free()
		f.filter = nil
	}
}

// replaceWith makes another filter the one that is made to take the place of this one. free says that it does.
func (f *tombstoneFilter) replaceWith(next *tombstoneFilter, free bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next = next; free {
		f.free()
	}
}

func (d *deletions) newFilter() *tombstoneFilter {
	return &tombstoneFilter{filter: bloom.New(d.budget)}
}

// forget forgets a table.
func (d *deletions) forget(id uint32) {
	d.forgot.Store(d.tick())
	if f := d.filters.drop(id); f != nil {
		f.replaceWith(nil, true)
	}
}

// tombstonesIn returns what is known of a table's tombstones in the snapshot of a read that asked the clock.
func (d *deletions) tombstonesIn(id uint32, clock uint64) *tombstoneFilter {
	if d.shared {
		if marked := d.marked.Load(); marked != nil {
			if _, ok := (*marked)[id]; !ok {
				return nil
			}
		}
		return unknownTombstones
	}
	f := d.filters.each()[id]
	if f == nil && clock < d.forgot.Load() || f != nil && clock < f.since {
		return unknownTombstones
	}
	return f
}

// filterRebuild makes the filter of a table anew, of the tombstones that are left.
type filterRebuild struct {
	*tombstoneFilter
	deletions *deletions
	id        uint32
	old       *tombstoneFilter // nil: the rebuild is over, or there is none to be replaced
}

// rebuildFilter begins to make the filter of a table. The caller then adds the tombstones that are stored; writers add
// those that come from here on. It waits until those that are being committed can be read. It returns nil if the table
// has no tombstones.
func (d *deletions) rebuildFilter(id uint32, u *usage) *filterRebuild {
	c := &filterRebuild{d.newFilter(), d, id, nil}
	if d.shared {
		return c
	}
	d.making.Lock()
	if c.old = d.filters.each()[id]; c.old == nil {
		d.making.Unlock()
		return nil
	}
	c.old.replaceWith(c.tombstoneFilter, false)
	u.wait()
	return c
}

// finish puts the filter in place of the old one if it has all tombstones. Only the first call counts. A writer that
// still adds to the old filter adds to this one too.
func (c *filterRebuild) finish(whole bool) {
	d, old := c.deletions, c.old
	if old == nil {
		return
	}
	c.old, c.since = nil, d.tick()
	if whole && d.filters.replace(c.id, old, c.tombstoneFilter) {
		old.replaceWith(c.tombstoneFilter, true)
	} else {
		old.replaceWith(nil, false)
		c.replaceWith(nil, true)
	}
	d.making.Unlock()
}

// eachTombstoneKey calls fn for the tombstones that a table has stored.
func eachTombstoneKey(r engine.Reader, id uint32, fn func(kind tombstoneKind, token int64) (bool, error)) error {
	start, end := rows.AppendArea(nil, id, rows.AreaTombstones), rows.AppendArea(nil, id, rows.AreaRows)
	return r.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
		n := rows.PartitionPrefixLength(key)
		if n < 0 {
			return false, rows.ErrKey
		}
		return fn(kindOf(key, n), rows.TokenOf(key))
	})
}

// kindOf returns what the tombstone with a key deletes. prefix is the length of the partition's key.
func kindOf(key []byte, prefix int) tombstoneKind {
	if len(key) == prefix {
		return ofPartition
	}
	return ofRange
}

// findTombstones returns the tables that have tombstones.
func (s *Store) findTombstones(ids map[[16]byte]uint32) (some []uint32, err error) {
	for _, id := range ids {
		err = eachTombstoneKey(s.engine, id, func(tombstoneKind, int64) (bool, error) {
			some = append(some, id)
			return false, nil
		})
		if err != nil {
			break
		}
	}
	return some, err
}

// makeFilters makes the filters of tables of which nothing is known.
func (s *Store) makeFilters(ids []uint32) {
	for _, id := range ids {
		c, n := s.deletions.rebuildFilter(id, s.usages.of(id)), 0
		if c == nil {
			continue
		}
		err := eachTombstoneKey(s.engine, id, func(kind tombstoneKind, token int64) (bool, error) {
			c.add(kind, token)
			if n++; n%1024 == 0 {
				return true, s.closing.Err()
			}
			return true, nil
		})
		if c.finish(err == nil); err != nil && s.closing.Err() == nil {
			s.log.Error().Err(err).Uint32("store_id", id).Msg("cannot load the tombstones of a table")
		}
	}
}
