package pace

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// Room is a semaphore that counts things, mostly bytes. Claims are served in FIFO order. Owners that hold some and
// wait for more could deadlock, so one owner at a time may exceed the limit, until it leaves. A nil owner may not. No
// owner may while charges take more than half of the room, because charges do not wait.
type Room struct {
	limit   int64
	used    atomic.Int64
	charged atomic.Int64 // of used
	waits   atomic.Int64 // claims in queue

	mu    sync.Mutex
	queue []*claim
	over  any // the owner that may exceed the limit
}

// claim is a wait for n.
type claim struct {
	owner any
	n     int64
	taken chan struct{} // closed when it has them
}

// NewRoom returns a room with a limit.
func NewRoom(limit int64) *Room { return &Room{limit: limit} }

// Init sets the limit of an unused room.
func (r *Room) Init(limit int64) { r.limit = limit }

// Used is how much is held. It may exceed the limit.
func (r *Room) Used() int64 { return r.used.Load() }

// Limit is the limit.
func (r *Room) Limit() int64 { return r.limit }

// Waiting is how many claims wait.
func (r *Room) Waiting() int64 { return r.waits.Load() }

// Short reports whether less than a quarter of the room is left.
func (r *Room) Short() bool { return r.used.Load() > r.limit/4*3 }

// Add takes n even if that exceeds the limit, for things that exist already.
func (r *Room) Add(n int64) { r.used.Add(n) }

// Charge takes n for things that exist already and do not wait for owners of room. A negative n gives back.
func (r *Room) Charge(n int64) {
	r.charged.Add(n)
	r.Give(-n)
}

// TryTake takes n or nothing. An empty room gives any n, even more than its limit: otherwise a claim for more could
// never be served.
func (r *Room) TryTake(n int64) bool { return r.waits.Load() == 0 && r.fits(n) }

// Take waits until it can take n or ctx ends.
func (r *Room) Take(ctx context.Context, owner any, n int64) error {
	return r.TakeUnless(ctx, nil, owner, n)
}

// TakeUnless is Take, but stops waiting with ErrRefused when refusing is closed.
func (r *Room) TakeUnless(ctx context.Context, refusing <-chan struct{}, owner any, n int64) error {
	if r.TryTake(n) {
		return nil
	}
	c := r.claim(owner, n)
	select {
	case <-c.taken:
		return nil
	case <-ctx.Done():
		r.withdraw(c)
		return ctx.Err()
	case <-refusing:
		r.withdraw(c)
		return ErrRefused
	}
}

// Give gives n back.
func (r *Room) Give(n int64) {
	r.used.Add(-n)
	if n > 0 && r.waits.Load() > 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.grant()
	}
}

// Leave gives n back, which is all that the owner held.
func (r *Room) Leave(owner any, n int64) {
	r.used.Add(-n)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over == owner {
		r.over = nil
	}
	r.grant()
}

// fits takes n if there is room for it.
func (r *Room) fits(n int64) bool {
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

// claim queues a claim, or serves it at once.
func (r *Room) claim(owner any, n int64) *claim {
	c := &claim{owner: owner, n: n, taken: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(r.queue, c)
	r.waits.Add(1)
	r.grant()
	return c
}

// withdraw ends a claim. If it was served meanwhile, its n is given back.
func (r *Room) withdraw(c *claim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.queue, c); i >= 0 {
		r.queue = slices.Delete(r.queue, i, i+1)
		r.waits.Add(-1)
	} else {
		r.used.Add(-c.n)
	}
	if r.over == c.owner {
		r.over = nil
	}
	r.grant()
}

// grant serves the claims that can be served. The lock is held.
func (r *Room) grant() {
	for len(r.queue) > 0 && r.fits(r.queue[0].n) {
		r.serve(0)
	}
	if len(r.queue) > 0 && r.over == nil && r.charged.Load() <= r.limit/2 {
		r.over = r.queue[0].owner
	}
	if r.over == nil {
		return
	}
	if i := slices.IndexFunc(r.queue, func(c *claim) bool { return c.owner == r.over }); i >= 0 {
		r.used.Add(r.queue[i].n)
		r.serve(i)
	}
}

// serve serves the i-th claim.
func (r *Room) serve(i int) {
	c := r.queue[i]
	r.queue = slices.Delete(r.queue, i, i+1)
	r.waits.Add(-1)
	close(c.taken)
}
