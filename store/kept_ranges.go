package store

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/cqld/cqld/store/rows"
)

// keptRanges keeps the tombstones of partitions that have many ranges, cut so that none overlap: a read finds the one
// over a row by binary search, where it would have to read and cut all of them.
//
// What is kept of a partition is right for a snapshot that was chosen while no tombstones of the partition were being
// written, and that has all that were written when it was kept. Writers say when they begin and when they are done.
// A clock counts when they are done, and a read looks at the clock before it chooses its snapshot. Partitions share
// places by their tokens, so a place may have changed for another partition: then it is only read anew.
type keptRanges struct {
	clock atomic.Uint64

	mu         sync.Mutex
	places     [keptPlaces]keptPlace
	partitions map[string]*keptPartition // by what the keys of their rows begin with
	bytes      int
	closed     bool // everything is being replaced
}

// keptPlace is what is known of the partitions that share a place.
type keptPlace struct {
	writing int    // how many write tombstones
	changed uint64 // the clock when the last of them was done
}

// keptPartition is a partition's tombstones. Nothing of it changes.
type keptPartition struct {
	changed   uint64 // of its place, when they were read
	partition rows.Tombstone
	ranges    []rows.RangeTombstone
	bytes     int
}

const (
	keptPlaces    = 1024
	maxKept       = 16 << 20 // bytes of all that is kept
	worthKeeping  = 32       // ranges of a partition
	keptRangeSize = int(unsafe.Sizeof(rows.RangeTombstone{}))
)

func (k *keptRanges) place(token int64) *keptPlace { return &k.places[uint64(token)%keptPlaces] }

// begin comes before tombstones of a partition are written or removed, and end when that is done.
func (k *keptRanges) begin(token int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.place(token).writing++
}

func (k *keptRanges) end(token int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.place(token)
	p.writing, p.changed = p.writing-1, k.clock.Add(1)
}

// now is the clock. A read asks for it before it chooses its snapshot.
func (k *keptRanges) now() uint64 { return k.clock.Load() }

// get makes d the tombstones of a partition as they are in a snapshot that was chosen after the clock was asked. It
// reports whether they are known.
func (k *keptRanges) get(d *rows.PartitionTombstones, prefix []byte, clock uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	x := k.partitions[string(prefix)]
	p := k.place(rows.TokenOf(prefix))
	if x == nil || !k.settled(p, clock) || x.changed != p.changed {
		return false
	}
	d.Any, d.Partition, d.Ranges = true, x.partition, x.ranges
	return true
}

// settled reports whether a snapshot that was chosen after the clock was asked has all that was written to a place.
func (k *keptRanges) settled(p *keptPlace, clock uint64) bool {
	return !k.closed && p.writing == 0 && p.changed <= clock
}

// keep keeps the tombstones that were read of such a snapshot, if they are worth it.
func (k *keptRanges) keep(d *rows.PartitionTombstones, prefix []byte, clock uint64) {
	if len(d.Ranges) < worthKeeping {
		return
	}
	size := len(prefix) + len(d.Ranges)*keptRangeSize
	for i := range d.Ranges {
		size += len(d.Ranges[i].Start) + len(d.Ranges[i].End)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.place(rows.TokenOf(prefix))
	if size > maxKept || !k.settled(p, clock) {
		return
	}
	k.drop(string(prefix))
	for other := range k.partitions {
		if k.bytes+size <= maxKept {
			break
		}
		k.drop(other)
	}
	if k.partitions == nil {
		k.partitions = map[string]*keptPartition{}
	}
	k.partitions[string(prefix)] = &keptPartition{p.changed, d.Partition, d.Ranges, size}
	k.bytes += size
}

// drop forgets a partition.
func (k *keptRanges) drop(prefix string) {
	if x := k.partitions[prefix]; x != nil {
		k.bytes -= x.bytes
		delete(k.partitions, prefix)
	}
}

// close forgets everything, before all that is stored is replaced, and open comes behind that.
func (k *keptRanges) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed, k.partitions, k.bytes = true, nil, 0
}

func (k *keptRanges) open() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = false
	now := k.clock.Add(1)
	for i := range k.places {
		k.places[i].changed = now
	}
}
