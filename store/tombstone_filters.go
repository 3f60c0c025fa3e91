package store

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/store/bloom"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// tombstoneFilters knows in memory which partitions may have tombstones of ranges or of the partition, so that point reads of
// others cost nothing; scans go through the tombstones beside the rows (see tombstoneCursor). It has Bloom filters of their
// tokens, in bounded memory: of a table with more than fit it knows nothing, and each read looks.
//
// A partition is entered before its first tombstone is committed, so whoever looks after choosing a snapshot misses none
// that the snapshot has. A sweep collects what is left of a table's tombstones, which then takes the place of what was known.
// So a reader looks before and after choosing its snapshot: if that is not the same, it goes by unknownTombstones.
type tombstoneFilters struct {
	mu     sync.Mutex // held by who replaces tables
	tables atomic.Pointer[map[uint32]*tableTombstones]
	budget *bloom.Budget
}

// maxTombstoneFilters is how much memory the filters take: enough for 20 million partitions.
const maxTombstoneFilters = 32 << 20

// tombstoneKind is what a tombstone is of.
type tombstoneKind uint8

const (
	ofPartition tombstoneKind = iota
	ofRange
	tombstoneKinds
)

// knownTombstones is what is known of a table's tombstones at some time; nil: there are none.
type knownTombstones struct {
	mu      sync.RWMutex
	filters [tombstoneKinds]*bloom.Filter // of the tokens of partitions; nil: all may have one
}

// unknownTombstones is what is known when nothing is.
var unknownTombstones = new(knownTombstones)

// has reports whether the partition of a token may have a tombstone of that kind.
func (k *knownTombstones) has(kind tombstoneKind, token int64) bool {
	if k == nil {
		return false
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	f := k.filters[kind]
	return f == nil || f.Has(uint64(token))
}

// any reports whether the table may have a tombstone.
func (k *knownTombstones) any() bool {
	if k == nil {
		return false
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	for _, f := range k.filters {
		if f == nil || f.Count() > 0 {
			return true
		}
	}
	return false
}

// add enters a partition.
func (k *knownTombstones) add(kind tombstoneKind, token int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.filters[kind]
	if f == nil {
		return
	}
	if _, ok := f.Add(uint64(token)); !ok {
		f.Free()
		k.filters[kind] = nil
	}
}

// free gives back the memory. Readers that still go by it look.
func (k *knownTombstones) free() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, f := range k.filters {
		if f != nil {
			f.Free()
			k.filters[i] = nil
		}
	}
}

// tableTombstones are the tombstones of one table.
type tableTombstones struct {
	collecting sync.Mutex // held from collect to finish or abandon
	known      atomic.Pointer[knownTombstones]
	mu         sync.Mutex
	next       *knownTombstones // that is being collected; nil: none is
	era        int              // how often one was begun
	writing    int              // tombstones of this era that are being committed
	before     int              // and of eras before it
}

// deleting are tombstones of a mutation that are being committed.
type deleting struct {
	table *tableTombstones
	era   int
}

// begin enters a partition with tombstones that are about to be committed.
func (x *tombstoneFilters) begin(id uint32, token int64, kinds [tombstoneKinds]bool) deleting {
	t := x.table(id)
	t.mu.Lock()
	defer t.mu.Unlock()
	for kind, some := range kinds {
		if !some {
			continue
		}
		t.known.Load().add(tombstoneKind(kind), token)
		if t.next != nil {
			t.next.add(tombstoneKind(kind), token)
		}
	}
	t.writing++
	return deleting{t, t.era}
}

// end is called when they are committed, or are not going to be.
func (d deleting) end() {
	t := d.table
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if d.era == t.era {
		t.writing--
	} else {
		t.before--
	}
}

// of is what is known of a table.
func (x *tombstoneFilters) of(id uint32) *knownTombstones {
	tables := x.tables.Load()
	if tables == nil {
		return nil
	}
	if t := (*tables)[id]; t != nil {
		return t.known.Load()
	}
	return nil
}

// in is what is known of a table in a snapshot that was chosen after before was known.
func (x *tombstoneFilters) in(id uint32, before *knownTombstones) *knownTombstones {
	if x.of(id) != before {
		return unknownTombstones
	}
	return before
}

// fresh knows that there are no tombstones.
func (x *tombstoneFilters) fresh() *knownTombstones {
	k := new(knownTombstones)
	for i := range k.filters {
		k.filters[i] = bloom.New(x.budget)
	}
	return k
}

// table returns the entry of a table, and makes one if it has none.
func (x *tombstoneFilters) table(id uint32) *tableTombstones {
	if tables := x.tables.Load(); tables != nil {
		if t := (*tables)[id]; t != nil {
			return t
		}
	}
	return x.set(id, x.fresh())
}

// set makes the entry of a table unless there is one; with nothing known it drops the entry.
func (x *tombstoneFilters) set(id uint32, known *knownTombstones) *tableTombstones {
	x.mu.Lock()
	defer x.mu.Unlock()
	tables := map[uint32]*tableTombstones{}
	if old := x.tables.Load(); old != nil {
		maps.Copy(tables, *old)
	}
	t := tables[id]
	switch {
	case known == nil && t != nil:
		t.known.Load().free()
		delete(tables, id)
	case known != nil && t == nil:
		t = new(tableTombstones)
		t.known.Store(known)
		tables[id] = t
	}
	x.tables.Store(&tables)
	return t
}

func (x *tombstoneFilters) drop(id uint32) { x.set(id, nil) }

// load enters what a table has stored, if that are few tombstones. It returns how many it has looked at, and whether there
// are more: then nothing is known of the table until they have been collected.
func (x *tombstoneFilters) load(r engine.Reader, id uint32, few int) (n int, more bool, err error) {
	known := x.fresh()
	err = eachTombstoneKey(r, id, func(kind tombstoneKind, token int64) (bool, error) {
		n++
		known.add(kind, token)
		more = n > few
		return !more, nil
	})
	if more {
		known.free()
		known = new(knownTombstones)
	}
	if n > 0 {
		x.set(id, known)
	}
	return n, more, err
}

// eachTombstoneKey goes through the tombstones that a table has stored.
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

// kindOf is what the tombstone with a key is of; the key of its partition is so long.
func kindOf(key []byte, prefix int) tombstoneKind {
	if len(key) == prefix {
		return ofPartition
	}
	return ofRange
}

// collection notes what is left of a table's tombstones.
type filterRebuild struct {
	table *tableTombstones // nil: it is over
	next  *knownTombstones
}

// collect begins a collection, for which the caller then goes through the table's tombstones; those that are written from
// here on are entered by who writes them. It waits until those that are being committed can be read. It returns nil if there
// are none.
func (x *tombstoneFilters) collect(ctx context.Context, id uint32) (*filterRebuild, error) {
	tables := x.tables.Load()
	if tables == nil || (*tables)[id] == nil {
		return nil, nil
	}
	t := (*tables)[id]
	t.collecting.Lock()
	c := &filterRebuild{table: t, next: x.fresh()}
	t.mu.Lock()
	t.next = c.next
	t.era++
	t.before, t.writing = t.before+t.writing, 0
	t.mu.Unlock()
	for {
		t.mu.Lock()
		waits := t.before > 0
		t.mu.Unlock()
		if !waits {
			return c, nil
		}
		select {
		case <-ctx.Done():
			c.abandon()
			return nil, ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

func (c *filterRebuild) add(kind tombstoneKind, token int64) { c.next.add(kind, token) }

// has reports whether tombstones of a partition were added, or may have been written since the collection began.
func (c *filterRebuild) has(kind tombstoneKind, token int64) bool { return c.next.has(kind, token) }

// finish makes what was collected what is known. What it does not have is not committed any more.
func (c *filterRebuild) finish() {
	t := c.table
	t.mu.Lock()
	t.next = nil
	old := t.known.Swap(c.next)
	t.mu.Unlock()
	old.free()
	c.table = nil
	t.collecting.Unlock()
}

// abandon ends a collection that is not finished.
func (c *filterRebuild) abandon() {
	t := c.table
	if t == nil {
		return
	}
	t.mu.Lock()
	t.next = nil
	t.mu.Unlock()
	c.next.free()
	c.table = nil
	t.collecting.Unlock()
}

// loadAtOnce is how many tombstones are looked at before the store is open.
const loadAtOnce = 10_000

// loadTombstones enters the tombstones that are stored. Tables with many are left for collectTombstones.
func (s *Store) loadTombstones(ids map[[16]byte]uint32) (left []uint32, err error) {
	s.filters.budget = bloom.NewBudget(maxTombstoneFilters)
	few := loadAtOnce
	for _, id := range ids {
		n, more, err := s.filters.load(s.engine, id, few)
		if err != nil {
			return nil, err
		}
		if more {
			left = append(left, id)
		}
		few -= min(n, few)
	}
	return left, nil
}

// collectTombstones enters the tombstones of tables that have many.
func (s *Store) collectTombstones(ids []uint32) {
	defer s.purging.Done()
	for _, id := range ids {
		if err := s.collectTable(id); err != nil && s.closing.Err() == nil {
			s.log.Error().Err(err).Uint32("store_id", id).Msg("cannot load the tombstones of a table")
		}
	}
}

func (s *Store) collectTable(id uint32) error {
	c, err := s.filters.collect(s.closing, id)
	if err != nil || c == nil {
		return err
	}
	defer c.abandon()
	n := 0
	err = eachTombstoneKey(s.engine, id, func(kind tombstoneKind, token int64) (bool, error) {
		c.add(kind, token)
		if n++; n%1024 == 0 {
			return true, s.closing.Err()
		}
		return true, nil
	})
	if err == nil {
		c.finish()
	}
	return err
}
