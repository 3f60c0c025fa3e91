package memory

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/cqld/cqld/store/bloom"
	"github.com/cqld/cqld/store/engine"
)

// filter has Bloom filters of the keys that were written, so it reports keys that were never written. A merge into
// such a key reads no old value, which would be most of the cost of an insert and of later reads of the row; an update
// that reads the key does not read the layers; and if the key is deleted before it is flushed, the memtable needs no
// tombstone (see fresh). The lock of writers is held to use the filter.
//
// Keys are grouped by their first bytes. A group gets a Bloom filter if it has no keys when a delta is first merged
// into one of its keys since the engine was opened. So groups whose keys are only put and deleted, as in
// indexes and views, use no memory. When the memory is used up, the group with the largest filter loses it.
type filter struct {
	groups map[uint32]*bloom.Filter // nil: the group has no filter, and gets none
	budget *bloom.Budget
	era    uint64 // counts groups that got a filter: keys that were deleted before are not in it
}

// groupSize is the number of first bytes that the keys of a group share.
const groupSize = 4

// DefaultFilter is enough memory for the filters of 40 million keys.
const DefaultFilter = 64 << 20

func newFilter(bytes int64) *filter {
	return &filter{groups: map[uint32]*bloom.Filter{}, budget: bloom.NewBudget(bytes)}
}

// knows reports whether a key's group has a filter, to which all keys that are written have to be added.
func (f *filter) knows(key []byte) bool {
	return len(key) >= groupSize && f.groups[binary.BigEndian.Uint32(key)] != nil
}

// lacks reports whether a key was never written, as of a view that was published in an era.
func (f *filter) lacks(key []byte, era uint64) bool {
	return f.era == era && f.knows(key) && !f.groups[binary.BigEndian.Uint32(key)].Has(hashKey(key))
}

// write adds a key, and reports whether it was never written before. below has the keys that exist.
func (f *filter) write(key []byte, hash uint64, below engine.Reader) (first bool, err error) {
	g, err := f.group(key, below)
	if g == nil {
		return false, err
	}
	first, ok := g.Add(hash)
	for !ok {
		if f.dropLargest() == g {
			return false, nil
		}
		first, ok = g.Add(hash)
	}
	return first, nil
}

// dropLargest drops the largest filter and returns it.
func (f *filter) dropLargest() *bloom.Filter {
	var largest *bloom.Filter
	var prefix uint32
	for p, g := range f.groups {
		if g != nil && (largest == nil || g.Bytes() > largest.Bytes()) {
			largest, prefix = g, p
		}
	}
	largest.Free()
	f.groups[prefix] = nil
	return largest
}

// forget drops the group of a key, whose keys are gone.
func (f *filter) forget(key []byte) {
	if len(key) < groupSize {
		return
	}
	prefix := binary.BigEndian.Uint32(key)
	if g := f.groups[prefix]; g != nil {
		g.Free()
	}
	delete(f.groups, prefix)
}

// group returns the filter of a key's group, or nil. It makes one if the group is seen first and has no keys.
func (f *filter) group(key []byte, below engine.Reader) (*bloom.Filter, error) {
	if len(key) < groupSize {
		return nil, nil
	}
	prefix := binary.BigEndian.Uint32(key)
	if g, known := f.groups[prefix]; known {
		return g, nil
	}
	empty := true
	var end []byte
	if prefix+1 != 0 {
		end = binary.BigEndian.AppendUint32(nil, prefix+1)
	}
	err := below.Scan(key[:groupSize], end, engine.ScanOptions{KeysOnly: true}, func(_, _ []byte) (bool, error) {
		empty = false
		return false, nil
	})
	if err != nil {
		return nil, err
	}
	var g *bloom.Filter
	if empty {
		g = bloom.New(f.budget)
		f.era++
	}
	f.groups[prefix] = g
	return g, nil
}

var seed = maphash.MakeSeed()

// lacks reports whether no layer has a key, as of a view that was published in an era of the filter.
func (f *Front) lacks(key []byte, era uint64) bool {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.filter.lacks(key, era)
}

// hashKey is the hash of a key for the filter.
func hashKey(key []byte) uint64 { return maphash.Bytes(seed, key) }
