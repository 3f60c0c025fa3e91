package usage

import (
	"maps"
	"sync"
	"sync/atomic"
)

// ByTable has something for each table, by the tables' numbers, in a map that is replaced as a whole: it is read
// without a lock.
type ByTable[T any] struct {
	mu  sync.Mutex // held to replace the map
	all atomic.Pointer[map[uint32]*T]
}

// All is the map. It is not to be changed.
func (n *ByTable[T]) All() map[uint32]*T {
	if all := n.all.Load(); all != nil {
		return *all
	}
	return nil
}

// GetOrMake returns what a table has. It is made if there is nothing.
func (n *ByTable[T]) GetOrMake(id uint32, create func() *T) *T {
	if x := n.All()[id]; x != nil {
		return x
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	x := n.All()[id]
	if x == nil {
		x = create()
		n.put(id, x)
	}
	return x
}

// Replace puts x in place of what a table has, and reports false if that is not old.
func (n *ByTable[T]) Replace(id uint32, old, x *T) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.All()[id] != old {
		return false
	}
	n.put(id, x)
	return true
}

// Drop forgets a table, and returns what it had, or nil.
func (n *ByTable[T]) Drop(id uint32) *T {
	n.mu.Lock()
	defer n.mu.Unlock()
	had := n.All()[id]
	n.put(id, nil)
	return had
}

// put sets what a table has; nil is nothing. The lock is held.
func (n *ByTable[T]) put(id uint32, x *T) {
	next := map[uint32]*T{}
	maps.Copy(next, n.All())
	if next[id] = x; x == nil {
		delete(next, id)
	}
	n.all.Store(&next)
}
