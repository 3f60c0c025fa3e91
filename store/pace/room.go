package pace

import (
	"sync"
	"sync/atomic"
)

// Room is a number of bytes that may be held at a time.
type Room struct {
	limit int64
	used  atomic.Int64

	mu    sync.Mutex
	first *Turn         // may hold more than there is room for
	freed chan struct{} // closed when bytes were given back or first is gone; nil: nobody waits
	waits atomic.Int64  // turns that wait
}

// NewRoom returns a room of that many bytes.
func NewRoom(limit int64) *Room { return &Room{limit: limit} }

// Used is how many bytes are held, which may be more than the limit.
func (r *Room) Used() int64 { return r.used.Load() }

// Limit is how many bytes there is room for.
func (r *Room) Limit() int64 { return r.limit }

// Waiting is how many turns wait for room.
func (r *Room) Waiting() int64 { return r.waits.Load() }

// Short reports whether less than a quarter of the room is left.
func (r *Room) Short() bool { return r.used.Load() > r.limit/4*3 }

// Add takes n bytes, also where there is no room: for what is there already.
func (r *Room) Add(n int64) { r.used.Add(n) }

// Give gives n bytes back.
func (r *Room) Give(n int64) {
	r.used.Add(-n)
	if n > 0 && r.waits.Load() > 0 {
		r.wake()
	}
}

func (r *Room) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.freed != nil {
		close(r.freed)
		r.freed = nil
	}
}

// tryTake takes n bytes if there is room for them.
func (r *Room) tryTake(n int64) bool {
	for {
		used := r.used.Load()
		if used > 0 && used+n > r.limit {
			return false
		}
		if r.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

// mayTake reports whether Hold need not wait.
func (r *Room) mayTake(t *Turn, n int64) bool {
	used := r.used.Load()
	return used == 0 || used+n <= r.limit || r.lead(t)
}

// lead makes t the turn that may hold more than there is room for, unless another one is.
func (r *Room) lead(t *Turn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == nil {
		r.first = t
	}
	return r.first == t
}

// leave gives back what t holds.
func (r *Room) leave(t *Turn) {
	r.mu.Lock()
	if r.first == t {
		r.first = nil
	}
	r.mu.Unlock()
	r.Give(t.held)
}

// changed returns a channel that is closed when there may be more room.
func (r *Room) changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.freed == nil {
		r.freed = make(chan struct{})
	}
	return r.freed
}
