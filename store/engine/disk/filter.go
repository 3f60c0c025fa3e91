package disk

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/cqld/cqld/store/bloom"
	"github.com/cqld/cqld/store/engine"
)

// filter reports keys that were certainly never written, so that a merge need not look for an old value: looking would
// be most of the cost of an insert, and of reading the row while it is in the tree. Nor does an update that reads a row
// before it writes it, and such a key that is deleted before it is flushed leaves no mark in the tree (see fresh). The
// lock of writers is held to use it.
//
// Keys are grouped by their first bytes. The filter knows a group that had no keys when something was first merged into
// one since the engine was opened; of others it knows nothing. So groups whose keys are only put and deleted, as those
// of indexes and views, take none of its memory, which when it is used up it takes from the group with most keys.
type filter struct {
	groups map[uint32]*bloom.Filter // nil: nothing is known of the group
	budget *bloom.Budget
	era    uint64 // counts groups that were made: a group may have had keys before it was, which the filter does not know
}

// groupSize is the number of first bytes that the keys of a group share.
const groupSize = 4

// defaultFilter is the filter's memory: enough for 40 million keys.
const defaultFilter = 64 << 20

func newFilter(bytes int64) *filter {
	return &filter{groups: map[uint32]*bloom.Filter{}, budget: bloom.NewBudget(bytes)}
}

// knows reports whether the filter has the keys of a key's group, so that it has to be told of all others.
func (f *filter) knows(key []byte) bool {
	return len(key) >= groupSize && f.groups[binary.BigEndian.Uint32(key)] != nil
}

// lacks reports whether a key was certainly not there in an era and since.
func (f *filter) lacks(key []byte, era uint64) bool {
	return f.era == era && f.knows(key) && !f.groups[binary.BigEndian.Uint32(key)].Has(hashKey(key))
}

// write notes that a key is written, and reports whether it certainly never was before. below is what was written
// before.
func (f *filter) write(key []byte, hash uint64, below engine.Reader) (first bool, err error) {
	g, err := f.group(key, below)
	if g == nil {
		return false, err
	}
	first, ok := g.Add(hash)
	for !ok {
		if f.giveUp() == g {
			return false, nil
		}
		first, ok = g.Add(hash)
	}
	return first, nil
}

// giveUp forgets the group with most keys and returns its filter.
func (f *filter) giveUp() *bloom.Filter {
	var most *bloom.Filter
	var prefix uint32
	for p, g := range f.groups {
		if g != nil && (most == nil || g.Bytes() > most.Bytes()) {
			most, prefix = g, p
		}
	}
	most.Free()
	f.groups[prefix] = nil
	return most
}

// forget drops a group.
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

// group returns the filter of a key's group. It makes one if the group has no keys yet.
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

// hashKey is the hash of a key for the filter.
func hashKey(key []byte) uint64 { return maphash.Bytes(seed, key) }
