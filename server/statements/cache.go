package statements

import (
	"sync"
	"sync/atomic"
)

// cache keeps planned statements up to a number of bytes. A lookup takes a read lock and allocates nothing.
//
// It evicts by the clock algorithm, which approximates LRU: the hand passes over statements that were used since its
// last round, and evicts the first other one.
type cache[K comparable] struct {
	limit int64

	mu      sync.RWMutex
	slots   map[K]*cacheSlot[K]
	clock   []*cacheSlot[K]
	hand    int
	bytes   int64
	evicted uint64
}

// cacheSlot is one statement under one key, at a place of the clock.
type cacheSlot[K comparable] struct {
	key   K
	st    *Statement
	place int
	used  atomic.Bool
}

func newCache[K comparable](limit int64) *cache[K] {
	return &cache[K]{limit: limit, slots: make(map[K]*cacheSlot[K])}
}

// get returns the statement of a key, or nil.
func (c *cache[K]) get(key K) *Statement {
	c.mu.RLock()
	defer c.mu.RUnlock()
	slot := c.slots[key]
	if slot == nil {
		return nil
	}
	if !slot.used.Load() { // a store would move the cache line between processors
		slot.used.Store(true)
	}
	return slot.st
}

// put keeps st under a key, and replaces the statement that was there. A statement larger than the cache is not kept.
func (c *cache[K]) put(key K, st *Statement) {
	if st.size > c.limit {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(c.slots[key])
	for c.bytes+c.needs(st) > c.limit {
		c.evict()
	}
	c.bytes += c.needs(st)
	st.slots++
	slot := &cacheSlot[K]{key: key, st: st, place: len(c.clock)}
	c.slots[key] = slot
	c.clock = append(c.clock, slot)
}

// needs is how many bytes one more slot for st takes: none if st is there under another key.
func (c *cache[K]) needs(st *Statement) int64 {
	if st.slots > 0 {
		return 0
	}
	return st.size
}

// drop removes the statement of a key, if it still is st.
func (c *cache[K]) drop(key K, st *Statement) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slot := c.slots[key]; slot != nil && slot.st == st {
		c.remove(slot)
	}
}

// prune forgets every statement for which stale holds.
func (c *cache[K]) prune(stale func(*Statement) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.clock) - 1; i >= 0; i-- {
		if slot := c.clock[i]; stale(slot.st) {
			c.remove(slot)
		}
	}
}

// evict removes the next statement that was not used since the hand came by.
func (c *cache[K]) evict() {
	for {
		c.hand %= len(c.clock)
		slot := c.clock[c.hand]
		if !slot.used.Swap(false) {
			c.remove(slot)
			c.evicted++
			return
		}
		c.hand++
	}
}

// remove removes a slot. The last one of the clock moves to its place.
func (c *cache[K]) remove(slot *cacheSlot[K]) {
	if slot == nil {
		return
	}
	last := len(c.clock) - 1
	moved := c.clock[last]
	c.clock[slot.place], moved.place = moved, slot.place
	c.clock[last] = nil
	c.clock = c.clock[:last]
	delete(c.slots, slot.key)
	slot.st.slots--
	c.bytes -= c.needs(slot.st)
}

// usage returns how many keys there are, their bytes, and how many were evicted.
func (c *cache[K]) usage() (entries int, bytes int64, evicted uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.clock), c.bytes, c.evicted
}
