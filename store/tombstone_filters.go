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

// deletionIndex knows in memory which partitions may have tombstones of ranges or of the partition, so that point reads of
// others cost nothing; scans go through the tombstones beside the rows (see deletionCursor). It has Bloom filters of their
// tokens, in bounded memory: of a table with more than fit it knows nothing, and each read looks.
//
// A partition is entered before its first tombstone is committed, so whoever looks after choosing a snapshot misses none
// that the snapshot has. A sweep collects what is left of a table's tombstones, which then takes the place of what was known.
// So a reader looks before and after choosing its snapshot: if that is not the same, it goes by unknownDeletions.
type deletionIndex struct {
	mu     sync.Mutex // held by who replaces tables
	tables atomic.Pointer[map[uint32]*tableDeletions]
	budget *bloom.Budget
}

// maxDeletionFilters is how much memory the filters take: enough for 20 million partitions.
const maxDeletionFilters = 32 << 20

// deletionKind is what a tombstone is of.
type deletionKind uint8

const (
	ofPartition deletionKind = iota
	ofRange
	deletionKinds
)

// knownDeletions is what is known of a table's tombstones at some time; nil: there are none.
type knownDeletions struct {
	mu      sync.RWMutex
	filters [deletionKinds]*bloom.Filter // of the tokens of partitions; nil: all may have one
}

// unknownDeletions is what is known when nothing is.
var unknownDeletions = new(knownDeletions)

// has reports whether the partition of a token may have a tombstone of that kind.
func (k *knownDeletions) has(kind deletionKind, token int64) bool {
	if k == nil {
		return false
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	f := k.filters[kind]
	return f == nil || f.Has(uint64(token))
}

// any reports whether the table may have a tombstone.
func (k *knownDeletions) any() bool {
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
func (k *knownDeletions) add(kind deletionKind, token int64) {
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
func (k *knownDeletions) free() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, f := range k.filters {
		if f != nil {
			f.Free()
			k.filters[i] = nil
		}
	}
}

// tableDeletions are the tombstones of one table.
type tableDeletions struct {
	collecting sync.Mutex // held from collect to finish or abandon
	known      atomic.Pointer[knownDeletions]
	mu         sync.Mutex
	next       *knownDeletions // that is being collected; nil: none is
	era        int             // how often one was begun
	writing    int             // tombstones of this era that are being committed
	before     int             // and of eras before it
}

// deleting are tombstones of a mutation that are being committed.
type deleting struct {
	table *tableDeletions
	era   int
}

// begin enters a partition with tombstones that are about to be committed.
func (x *deletionIndex) begin(id uint32, token int64, kinds [deletionKinds]bool) deleting {
	t := x.table(id)
	t.mu.Lock()
	defer t.mu.Unlock()
	for kind, some := range kinds {
		if !some {
			continue
		}
		t.known.Load().add(deletionKind(kind), token)
		if t.next != nil {
			t.next.add(deletionKind(kind), token)
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
func (x *deletionIndex) of(id uint32) *knownDeletions {
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
func (x *deletionIndex) in(id uint32, before *knownDeletions) *knownDeletions {
	if x.of(id) != before {
		return unknownDeletions
	}
	return before
}

// fresh knows that there are no tombstones.
func (x *deletionIndex) fresh() *knownDeletions {
	k := new(knownDeletions)
	for i := range k.filters {
		k.filters[i] = bloom.New(x.budget)
	}
	return k
}

// table returns the entry of a table, and makes one if it has none.
func (x *deletionIndex) table(id uint32) *tableDeletions {
	if tables := x.tables.Load(); tables != nil {
		if t := (*tables)[id]; t != nil {
			return t
		}
	}
	return x.set(id, x.fresh())
}

// set makes the entry of a table unless there is one; with nothing known it drops the entry.
func (x *deletionIndex) set(id uint32, known *knownDeletions) *tableDeletions {
	x.mu.Lock()
	defer x.mu.Unlock()
	tables := map[uint32]*tableDeletions{}
	if old := x.tables.Load(); old != nil {
		maps.Copy(tables, *old)
	}
	t := tables[id]
	switch {
	case known == nil && t != nil:
		t.known.Load().free()
		delete(tables, id)
	case known != nil && t == nil:
		t = new(tableDeletions)
		t.known.Store(known)
		tables[id] = t
	}
	x.tables.Store(&tables)
	return t
}

func (x *deletionIndex) drop(id uint32) { x.set(id, nil) }

// load enters what a table has stored, if that are few tombstones. It returns how many it has looked at, and whether there
// are more: then nothing is known of the table until they have been collected.
func (x *deletionIndex) load(r engine.Reader, id uint32, few int) (n int, more bool, err error) {
	known := x.fresh()
	err = eachDeletionKey(r, id, func(kind deletionKind, token int64) (bool, error) {
		n++
		known.add(kind, token)
		more = n > few
		return !more, nil
	})
	if more {
		known.free()
		known = new(knownDeletions)
	}
	if n > 0 {
		x.set(id, known)
	}
	return n, more, err
}

// eachDeletionKey goes through the tombstones that a table has stored.
func eachDeletionKey(r engine.Reader, id uint32, fn func(kind deletionKind, token int64) (bool, error)) error {
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
func kindOf(key []byte, prefix int) deletionKind {
	if len(key) == prefix {
		return ofPartition
	}
	return ofRange
}

// collection notes what is left of a table's tombstones.
type collection struct {
	table *tableDeletions // nil: it is over
	next  *knownDeletions
}

// collect begins a collection, for which the caller then goes through the table's tombstones; those that are written from
// here on are entered by who writes them. It waits until those that are being committed can be read. It returns nil if there
// are none.
func (x *deletionIndex) collect(ctx context.Context, id uint32) (*collection, error) {
	tables := x.tables.Load()
	if tables == nil || (*tables)[id] == nil {
		return nil, nil
	}
	t := (*tables)[id]
	t.collecting.Lock()
	c := &collection{table: t, next: x.fresh()}
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

func (c *collection) add(kind deletionKind, token int64) { c.next.add(kind, token) }

// has reports whether tombstones of a partition were added, or may have been written since the collection began.
func (c *collection) has(kind deletionKind, token int64) bool { return c.next.has(kind, token) }

// finish makes what was collected what is known. What it does not have is not committed any more.
func (c *collection) finish() {
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
func (c *collection) abandon() {
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

// loadDeletions enters the tombstones that are stored. Tables with many are left for collectDeletions.
func (s *Store) loadDeletions(ids map[[16]byte]uint32) (left []uint32, err error) {
	s.deletions.budget = bloom.NewBudget(maxDeletionFilters)
	few := loadAtOnce
	for _, id := range ids {
		n, more, err := s.deletions.load(s.engine, id, few)
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

// collectDeletions enters the tombstones of tables that have many.
func (s *Store) collectDeletions(ids []uint32) {
	defer s.purging.Done()
	for _, id := range ids {
		if err := s.collectTable(id); err != nil && s.closing.Err() == nil {
			s.log.Error().Err(err).Uint32("store_id", id).Msg("cannot load the tombstones of a table")
		}
	}
}

func (s *Store) collectTable(id uint32) error {
	c, err := s.deletions.collect(s.closing, id)
	if err != nil || c == nil {
		return err
	}
	defer c.abandon()
	n := 0
	err = eachDeletionKey(s.engine, id, func(kind deletionKind, token int64) (bool, error) {
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
