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

// tombstoneFilters tell which partitions may have tombstones of their own or of ranges, so that point reads of
// others cost nothing. Scans read the tombstones beside the rows (see tombstoneCursor). They are Bloom filters of
// tokens in bounded memory. A table with too many tombstones has no filter, and each read looks.
//
// A partition is added before its first tombstone is committed, so whoever asks after choosing a snapshot misses
// none in it. A sweep makes the filters of a table anew, of the tombstones that are left. So a reader asks before
// and after it chooses its snapshot: if the filters have changed it goes by unknownTombstones.
type tombstoneFilters struct {
	mu     sync.Mutex // held to replace tables
	tables atomic.Pointer[map[uint32]*tableTombstones]
	budget *bloom.Budget
	kept   keptRanges

	// Others write tombstones to a shared engine too: nothing is known but which tables have none at all.
	shared bool
	marked atomic.Pointer[map[uint32]uint64] // the others
}

// maxTombstoneFilters is the memory of all filters, unless Options say: enough for 20 million partitions.
const maxTombstoneFilters = 32 << 20

// tombstoneKind is what a tombstone deletes.
type tombstoneKind uint8

const (
	ofPartition tombstoneKind = iota
	ofRange
	tombstoneKinds
)

// knownTombstones is what is known of a table's tombstones at some time. nil: there are none.
type knownTombstones struct {
	mu      sync.RWMutex
	filters [tombstoneKinds]*bloom.Filter // of the tokens of partitions; nil: all may have one
}

// unknownTombstones is for a table of which nothing is known.
var unknownTombstones = new(knownTombstones)

// has reports whether the partition of a token may have a tombstone of a kind.
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

// add adds a partition.
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

// free gives the memory back. Readers that still use the filters look themselves.
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

// tableTombstones are the filters of one table.
type tableTombstones struct {
	collecting sync.Mutex // held from collect to finish or abandon
	known      atomic.Pointer[knownTombstones]
	mu         sync.Mutex
	next       *knownTombstones // that is being collected; nil: none is
	era        int              // how often one was begun
	writing    int              // tombstones of this era that are being committed
	before     int              // and of eras before it
}

// deleting are tombstones of a mutation that is being committed.
type deleting struct {
	table *tableTombstones
	era   int
	kept  *keptRanges
	token int64
}

// begin adds a partition whose tombstones are about to be committed.
func (x *tombstoneFilters) begin(id uint32, token int64, kinds [tombstoneKinds]bool) deleting {
	if x.shared {
		return deleting{}
	}
	x.kept.begin(token)
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
	return deleting{t, t.era, &x.kept, token}
}

// end is called when they are committed or have failed.
func (d deleting) end() {
	t := d.table
	if t == nil {
		return
	}
	d.kept.end(d.token)
	t.mu.Lock()
	defer t.mu.Unlock()
	if d.era == t.era {
		t.writing--
	} else {
		t.before--
	}
}

// of returns what is known of a table.
func (x *tombstoneFilters) of(id uint32) *knownTombstones {
	if x.shared {
		if marked := x.marked.Load(); marked != nil {
			if _, ok := (*marked)[id]; !ok {
				return nil
			}
		}
		return unknownTombstones
	}
	tables := x.tables.Load()
	if tables == nil {
		return nil
	}
	if t := (*tables)[id]; t != nil {
		return t.known.Load()
	}
	return nil
}

// in returns what is known of a table in a snapshot. before was known before the snapshot was chosen.
func (x *tombstoneFilters) in(id uint32, before *knownTombstones) *knownTombstones {
	if x.of(id) != before {
		return unknownTombstones
	}
	return before
}

// fresh makes filters without a tombstone.
func (x *tombstoneFilters) fresh() *knownTombstones {
	k := new(knownTombstones)
	for i := range k.filters {
		k.filters[i] = bloom.New(x.budget)
	}
	return k
}

// table returns the entry of a table. It makes one if there is none.
func (x *tombstoneFilters) table(id uint32) *tableTombstones {
	if tables := x.tables.Load(); tables != nil {
		if t := (*tables)[id]; t != nil {
			return t
		}
	}
	return x.set(id, x.fresh())
}

// set makes the entry of a table unless there is one. Without known it drops the entry.
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

// reset forgets all tables. Nothing is known of those given until their filters are rebuilt, and others have no
// tombstones.
func (x *tombstoneFilters) reset(unknown []uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if old := x.tables.Load(); old != nil {
		for _, t := range *old {
			t.known.Load().free()
		}
	}
	tables := make(map[uint32]*tableTombstones, len(unknown))
	for _, id := range unknown {
		t := new(tableTombstones)
		t.known.Store(new(knownTombstones))
		tables[id] = t
	}
	x.tables.Store(&tables)
}

// load makes the filters of a table that has few tombstones stored. It returns how many it has read, and whether
// there are more: then nothing is known of the table until its filters are rebuilt.
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

// filterRebuild makes the filters of a table anew, of the tombstones that are left.
type filterRebuild struct {
	table *tableTombstones // nil: it is over, or there are no filters to put the new ones in place of
	next  *knownTombstones
}

// collect begins a rebuild. The caller then adds the tombstones that the table has stored; writers add those that
// come from here on. It waits until the tombstones that are being committed can be read. It returns nil if the
// table has no filters.
func (x *tombstoneFilters) collect(ctx context.Context, id uint32) (*filterRebuild, error) {
	if x.shared {
		return &filterRebuild{next: x.fresh()}, nil
	}
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

// has reports whether tombstones of a partition were added, or may have been written since the rebuild began.
func (c *filterRebuild) has(kind tombstoneKind, token int64) bool { return c.next.has(kind, token) }

// finish puts the new filters in place of the old ones.
func (c *filterRebuild) finish() {
	t := c.table
	if t == nil {
		return
	}
	t.mu.Lock()
	t.next = nil
	old := t.known.Swap(c.next)
	t.mu.Unlock()
	old.free()
	c.table = nil
	t.collecting.Unlock()
}

// abandon ends a rebuild that is not finished.
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

// loadAtOnce is how many tombstones are read before the store is open.
const loadAtOnce = 10_000

// loadTombstones makes the filters of the stored tombstones. It returns the tables that have many, for
// collectTombstones.
func (s *Store) loadTombstones(ids map[[16]byte]uint32) (left []uint32, err error) {
	s.filters.budget = bloom.NewBudget(s.filterBytes)
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

// collectTombstones makes the filters of tables that have many tombstones.
func (s *Store) collectTombstones(ids []uint32) {
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
