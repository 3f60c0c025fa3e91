package store

import (
	"maps"
	"sync"
	"sync/atomic"
)

// numbered has something for each table, by the tables' numbers, in a map that is replaced as a whole: it is read
// without a lock.
type numbered[T any] struct {
	mu  sync.Mutex // held to replace the map
	all atomic.Pointer[map[uint32]*T]
}

// each is the map. It is not to be changed.
func (n *numbered[T]) each() map[uint32]*T {
	if all := n.all.Load(); all != nil {
		return *all
	}
	return nil
}

// getOrMake returns what a table has. It is made if there is nothing.
func (n *numbered[T]) getOrMake(id uint32, create func() *T) *T {
	if x := n.each()[id]; x != nil {
		return x
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	x := n.each()[id]
	if x == nil {
		x = create()
		n.put(id, x)
	}
	return x
}

// replace puts x in place of what a table has, and reports false if that is not old.
func (n *numbered[T]) replace(id uint32, old, x *T) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.each()[id] != old {
		return false
	}
	n.put(id, x)
	return true
}

// drop forgets a table, and returns what it had, or nil.
func (n *numbered[T]) drop(id uint32) *T {
	n.mu.Lock()
	defer n.mu.Unlock()
	had := n.each()[id]
	n.put(id, nil)
	return had
}

// put sets what a table has; nil is nothing. The lock is held.
func (n *numbered[T]) put(id uint32, x *T) {
	next := map[uint32]*T{}
	maps.Copy(next, n.each())
	if next[id] = x; x == nil {
		delete(next, id)
	}
	n.all.Store(&next)
}
