package badger

import (
	"bytes"
	"hash/maphash"
	"sync"
)

// Sizes of the cache.
const (
	// maxShards is how many parts a cache has whose locks and room are their own.
	maxShards = 64

	// shardSize is the least that a shard of a cache with several has.
	shardSize = 512 << 10

	// maxCached is the longest value that is kept.
	maxCached = 16 << 10

	// slotSize is what a value takes apart from its bytes and its key's: a slot, its place in the index
	// and what allocations are rounded up by.
	slotSize = 136
)

// cache keeps values that were read twice within a short while, so that a point read need not look for them in each of
// Badger's tables that may have the key.
//
// A write drops its keys before a snapshot has it. What was read at a snapshot goes in only if the shard has had no
// later write. So a value in the cache is right for the snapshots of its version and later ones.
//
// A nil cache keeps nothing.
type cache struct {
	mask   uint64
	shards []shard
}

// newCache makes a cache of at most so many bytes. It takes them as they are needed.
func newCache(size int64) *cache {
	if size <= 0 {
		return nil
	}
	n := int64(1)
	for n < maxShards && size/(2*n) >= shardSize {
		n *= 2
	}
	c := &cache{mask: uint64(n - 1), shards: make([]shard, n)}
	for i := range c.shards {
		c.shards[i].room = int(size / n)
	}
	return c
}

// seed makes the hashes of one process differ from those of another.
var seed = maphash.MakeSeed()

// hashKey is the hash of a key for the cache.
func hashKey(key []byte) uint64 { return maphash.Bytes(seed, key) }

func (c *cache) shard(hash uint64) *shard { return &c.shards[hash&c.mask] }

// get returns the value of key in a snapshot of version. The value must not be changed; it stays valid as long as
// somebody keeps it.
func (c *cache) get(hash uint64, key []byte, version uint64) ([]byte, bool) {
	if c == nil {
		return nil, false
	}
	s := c.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.index[hash]
	if !ok {
		return nil, false
	}
	x := &s.slots[i]
	if x.version > version || !bytes.Equal(x.key, key) {
		return nil, false
	}
	x.used = true
	return x.value, true
}

// fill keeps a copy of the value that key has in a snapshot of version, unless there may be a later one.
func (c *cache) fill(hash uint64, key, value []byte, version uint64) {
	if c == nil || len(value) > maxCached {
		return
	}
	s := c.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.written <= version && s.admits(hash) {
		both := append(append(make([]byte, 0, len(key)+len(value)), key...), value...)
		s.put(slot{hash: hash, version: version, key: both[:len(key):len(key)], value: both[len(key):]})
	}
}

// drop drops a key that the write of version has changed.
func (c *cache) drop(key []byte, version uint64) {
	if c == nil {
		return
	}
	hash := hashKey(key)
	s := c.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written = version
	s.drop(hash)
}

// shard is a part of a cache. It admits a key when it is asked for a second time within a short while, so a key
// that is read once evicts nothing. When it is full its hand goes around, and evicts values that were not used
// since it last came by.
type shard struct {
	mu      sync.Mutex
	index   map[uint64]int32 // from the hash to the slot
	slots   []slot
	unused  []int32
	hand    int
	size    int
	room    int
	written uint64   // the version of the last write that had a key of this shard
	asked   []uint64 // marks of hashes that it did not take: the last four of those that share a place
	_       [8]byte  // for cache lines of its own
}

// slot has a key and its value, which never change. The key is nil if the slot is unused.
type slot struct {
	hash, version uint64
	key, value    []byte
	used          bool
}

func (x *slot) size() int { return len(x.key) + cap(x.value) + slotSize }

// askedFor is for how many bytes of room a shard remembers a hash that it did not take: about as many as it has values.
const askedFor = 512

// admits reports whether the value of a key should be kept.
func (s *shard) admits(hash uint64) bool {
	if _, ok := s.index[hash]; ok {
		return true
	}
	if s.asked == nil {
		s.asked = make([]uint64, s.room/(4*askedFor)+1)
	}
	four := &s.asked[hash>>32*uint64(len(s.asked))>>32]
	mark := hash>>8&0xFFFF | 1
	for i := range 4 {
		if *four>>(16*i)&0xFFFF == mark {
			return true
		}
	}
	*four = *four<<16 | mark
	return false
}

// put keeps x instead of what has the same hash, if there is room for it at all.
func (s *shard) put(x slot) {
	if x.size() > s.room {
		s.drop(x.hash)
		return
	}
	i, ok := s.index[x.hash]
	if ok {
		s.size -= s.slots[i].size()
		x.used = s.slots[i].used
	} else {
		i = s.free()
	}
	s.size += x.size()
	s.slots[i] = x
	s.index[x.hash] = i
	for s.size > s.room {
		s.evict(int(i))
	}
}

// free returns a slot that is not used.
func (s *shard) free() int32 {
	if n := len(s.unused); n > 0 {
		i := s.unused[n-1]
		s.unused = s.unused[:n-1]
		return i
	}
	if s.index == nil {
		s.index = map[uint64]int32{}
	}
	s.slots = append(s.slots, slot{})
	return int32(len(s.slots) - 1)
}

// evict moves the hand on by a slot and empties the slot if it may, but not the one to keep.
func (s *shard) evict(keep int) {
	s.hand = (s.hand + 1) % len(s.slots)
	switch x := &s.slots[s.hand]; {
	case x.key == nil || s.hand == keep:
	case x.used:
		x.used = false
	default:
		s.drop(x.hash)
	}
}

func (s *shard) drop(hash uint64) {
	i, ok := s.index[hash]
	if !ok {
		return
	}
	s.size -= s.slots[i].size()
	s.slots[i] = slot{}
	s.unused = append(s.unused, i)
	delete(s.index, hash)
}
