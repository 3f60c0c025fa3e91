package tombstones

import (
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/cqld/cqld/store/bloom"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/usage"
)

// Tracker knows where tombstones may be, and which ranges of keys are empty.
type Tracker struct {
	clock   atomic.Uint64
	filters usage.ByTable[Filter]
	budget  *bloom.Budget // of the filters
	making  sync.Mutex    // held while a filter is made
	forgot  atomic.Uint64 // the time when a table was last forgotten
	empty   atomic.Pointer[emptyRanges]

	LongRun   int           // the constant, but in tests
	SlowStart time.Duration // as well

	mu     sync.Mutex // held to replace empty; guards the rest
	places [keptPlaces]keptPlace
	kept   map[string]keptPartition // by the prefix of the keys of their rows
	bytes  int                      // of kept

	shared bool
	marked atomic.Pointer[map[uint32]uint64] // the tables of a shared engine that may have tombstones
}

// keptPlace counts writes of tombstones in the partitions whose tokens share a place.
type keptPlace struct {
	writing int    // how many write tombstones
	changed uint64 // the time when the last of them was done
}

// keptPartition is a partition's tombstones. Nothing of it changes.
type keptPartition struct {
	since     uint64
	partition rows.Tombstone
	ranges    []rows.RangeTombstone
	bytes     int
}

const (
	keptPlaces    = 1024
	maxKept       = 16 << 20 // bytes of all that is kept
	WorthKeeping  = 32       // ranges of a partition
	keptRangeSize = int(unsafe.Sizeof(rows.RangeTombstone{}))
)

// Init prepares for a store whose filters may have so many bytes; 0: 32 MiB. shared says that it shares its engine.
func (d *Tracker) Init(filterBytes int64, shared bool) {
	if filterBytes == 0 {
		filterBytes = maxTombstoneFilters
	}
	d.budget, d.shared = bloom.NewBudget(filterBytes), shared
	d.LongRun, d.SlowStart = LongRun, slowStart
}

// SetMarked sets the tables of a shared engine that may have tombstones.
func (d *Tracker) SetMarked(tables map[uint32]uint64) { d.marked.Store(&tables) }

// Clock is the time. Nothing holds at 0.
func (d *Tracker) Clock() uint64 {
	if d.shared {
		return 0
	}
	return d.clock.Load() + 1
}

// tick returns a time later than any that reads were given before.
func (d *Tracker) tick() uint64 { return d.clock.Add(1) + 1 }

func (d *Tracker) place(token int64) *keptPlace { return &d.places[uint64(token)%keptPlaces] }

// Deletion are tombstones that are being committed.
type Deletion struct {
	deletions *Tracker // nil: there are none
	token     int64    // of their partition
}

// BeginWrite comes before a commit of the operations of a mutation, which has such kinds of tombstones of its
// partition.
func (d *Tracker) BeginWrite(id uint32, token int64, kinds [Kinds]bool, ops []engine.Op) Deletion {
	if d.shared {
		return Deletion{}
	}
	for i := range ops {
		d.Fill(ops[i].Key)
	}
	if kinds == ([Kinds]bool{}) {
		return Deletion{}
	}
	f := d.filters.GetOrMake(id, d.newFilter)
	for kind, some := range kinds {
		if some {
			f.Add(Kind(kind), token)
		}
	}
	return d.BeginTombstones(token)
}

// BeginTombstones comes before tombstones of a partition are written or removed.
func (d *Tracker) BeginTombstones(token int64) Deletion {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.place(token).writing++
	return Deletion{d, token}
}

// End comes when the commit is done or has failed.
func (x Deletion) End() {
	d := x.deletions
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.place(x.token)
	p.writing, p.changed = p.writing-1, d.tick()
}

// tombstonesOf makes t the tombstones of a partition, if they are kept and right for a read that asked the clock.
func (d *Tracker) tombstonesOf(t *rows.PartitionTombstones, prefix []byte, clock uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	x, found := d.kept[string(prefix)]
	p := d.place(rows.TokenOf(prefix))
	if !found || p.writing > 0 || x.since != p.changed || clock < max(1, x.since) {
		return false
	}
	t.Any, t.Partition, t.Ranges = true, x.partition, x.ranges
	return true
}

// keep keeps the tombstones of a partition that such a read has found, if they are worth it.
func (d *Tracker) keep(t *rows.PartitionTombstones, prefix []byte, clock uint64) {
	if len(t.Ranges) < WorthKeeping {
		return
	}
	size := len(prefix) + len(t.Ranges)*keptRangeSize
	for i := range t.Ranges {
		size += len(t.Ranges[i].Start) + len(t.Ranges[i].End)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.place(rows.TokenOf(prefix))
	if size > maxKept || p.writing > 0 || clock < max(1, p.changed) {
		return
	}
	if d.bytes += size - d.kept[string(prefix)].bytes; d.kept == nil || d.bytes > maxKept {
		d.kept, d.bytes = map[string]keptPartition{}, size
	}
	d.kept[string(prefix)] = keptPartition{p.changed, t.Partition, t.Ranges, size}
}

// Reset forgets everything, because all that is stored was replaced. Nothing is known of the tables given until their
// filters are made, and others have no tombstones.
func (d *Tracker) Reset(unknown []uint32) {
	for id := range d.filters.All() {
		d.Forget(id)
	}
	for _, id := range unknown {
		d.filters.GetOrMake(id, func() *Filter { return new(Filter) })
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept, d.bytes = nil, 0
	d.empty.Store(nil)
	now := d.tick()
	for i := range d.places {
		d.places[i].changed = now
	}
}

// KeptPartitions is the number of partitions whose tombstones are kept.
func (d *Tracker) KeptPartitions() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.kept)
}
