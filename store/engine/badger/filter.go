package badger

import (
	"encoding/binary"

	"github.com/cqld/cqld/store/engine"
)

// filter knows of keys that they were never written, so that a merge into nothing needs not look for what is there: that
// is most of what an insert would cost. It belongs to the writer.
//
// Keys are taken together by their first bytes. It knows about a group that had no keys when the first was written since
// the engine was opened; of others it knows nothing.
type filter struct {
	groups map[uint32]*keySet // nil: nothing is known of the group
}

// groupSize is the number of first bytes that the keys of a group share.
const groupSize = 4

func newFilter() *filter { return &filter{groups: map[uint32]*keySet{}} }

// write notes that a key is written, and reports whether it certainly never was before. below is what is committed and
// in the batch so far.
func (f *filter) write(key []byte, hash uint64, below engine.Reader) (first bool, err error) {
	g, err := f.group(key, below)
	return g != nil && g.add(hash), err
}

// forget drops a group.
func (f *filter) forget(key []byte) {
	if len(key) >= groupSize {
		delete(f.groups, binary.BigEndian.Uint32(key))
	}
}

// group finds the keys of a group, and begins with one that has none yet.
func (f *filter) group(key []byte, below engine.Reader) (*keySet, error) {
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
	var g *keySet
	if empty {
		g = &keySet{}
	}
	f.groups[prefix] = g
	return g, nil
}

// keySet is a set of hashes which may have some that were never added: Bloom filters, each eight times as large as the
// one before it. Each has to be asked, and each is wrong now and then, so there are few.
type keySet struct{ layers []layer }

// layer is a Bloom filter whose bits of one hash are all in one block of 512.
type layer struct {
	blocks [][8]uint64
	room   int // hashes that may still be added
}

const (
	firstLayer  = 1 << 11 // hashes
	bitsPerHash = 12
	bitsSet     = 8 // for each hash
)

func (s *keySet) has(hash uint64) bool {
	for i := range s.layers {
		if s.layers[i].has(hash) {
			return true
		}
	}
	return false
}

// add adds a hash and reports whether it was not there.
func (s *keySet) add(hash uint64) bool {
	if s.has(hash) {
		return false
	}
	n := len(s.layers)
	if n == 0 || s.layers[n-1].room == 0 {
		size := firstLayer << (3 * n)
		s.layers = append(s.layers, layer{make([][8]uint64, size*bitsPerHash/512+1), size})
		n++
	}
	s.layers[n-1].add(hash)
	return true
}

// block is where a hash has its bits: the upper half of it says how far into the blocks.
func (l *layer) block(hash uint64) *[8]uint64 {
	return &l.blocks[hash>>32*uint64(len(l.blocks))>>32]
}

func (l *layer) has(hash uint64) bool {
	block := l.block(hash)
	for range bitsSet {
		if block[hash>>6&7]&(1<<(hash&63)) == 0 {
			return false
		}
		hash = next(hash)
	}
	return true
}

func (l *layer) add(hash uint64) {
	l.room--
	block := l.block(hash)
	for range bitsSet {
		block[hash>>6&7] |= 1 << (hash & 63)
		hash = next(hash)
	}
}

// next makes another number of a hash.
func next(hash uint64) uint64 { return hash*0x9E3779B97F4A7C15 ^ hash>>29 }
