package server

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// budget is a number of things that may be in use at a time. Its zero value with a limit is ready. Those who wait get
// theirs in the order in which they came.
type budget struct {
	limit   int64
	used    atomic.Int64
	waiting atomic.Int32 // claims in queue

	mu    sync.Mutex
	queue []*claim
	over  any // who may have more than there is; see take
}

// claim is somebody who waits for n.
type claim struct {
	owner any
	n     int64
	taken chan struct{} // closed when it has them
}

// tryTake takes n, or nothing. Whoever comes first gets what it asks for, even more than there is: else a
// request larger than the limit could never be served.
func (b *budget) tryTake(n int64) bool {
	if b.waiting.Load() > 0 {
		return false
	}
	return b.fits(n)
}

// fits takes n if it is left.
func (b *budget) fits(n int64) bool {
	for {
		used := b.used.Load()
		if used > 0 && used+n > b.limit {
			return false
		}
		if b.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

// force takes n in any case.
func (b *budget) force(n int64) { b.used.Add(n) }

// take waits until it can take n or ctx ends. One owner at a time may have more than there is, until it calls
// leave: those who hold something and wait for more would else wait for each other. A nil owner never has more.
func (b *budget) take(ctx context.Context, owner any, n int64) error {
	if b.tryTake(n) {
		return nil
	}
	c := &claim{owner: owner, n: n, taken: make(chan struct{})}
	b.mu.Lock()
	b.queue = append(b.queue, c)
	b.waiting.Add(1)
	b.grant()
	b.mu.Unlock()
	select {
	case <-c.taken:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over == c.owner {
		b.over = nil
	}
	if i := slices.Index(b.queue, c); i >= 0 {
		b.queue = slices.Delete(b.queue, i, i+1)
		b.waiting.Add(-1)
	} else {
		b.used.Add(-n)
	}
	b.grant()
	return ctx.Err()
}

// give returns n.
func (b *budget) give(n int64) {
	b.used.Add(-n)
	if b.waiting.Load() == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.grant()
}

// leave returns n, and says that owner has nothing any more.
func (b *budget) leave(owner any, n int64) {
	b.used.Add(-n)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over == owner {
		b.over = nil
	}
	b.grant()
}

// grant serves those who wait. The lock is held.
func (b *budget) grant() {
	for len(b.queue) > 0 && b.fits(b.queue[0].n) {
		b.serve(0)
	}
	if len(b.queue) > 0 && b.over == nil {
		b.over = b.queue[0].owner
	}
	if b.over == nil {
		return
	}
	if i := slices.IndexFunc(b.queue, func(c *claim) bool { return c.owner == b.over }); i >= 0 {
		b.force(b.queue[i].n)
		b.serve(i)
	}
}

// serve lets the i-th of those who wait go on.
func (b *budget) serve(i int) {
	c := b.queue[i]
	b.queue = slices.Delete(b.queue, i, i+1)
	b.waiting.Add(-1)
	close(c.taken)
}
