package server

import (
	"context"
	"sync"

	"github.com/cqld/cqld/cql/cqlerr"
)

// pendingWrites are the writes of a connection that are not answered, the oldest first.
type pendingWrites struct {
	mu    sync.Mutex
	first *request
	last  *request
}

// pendingWrite is the place of a request among them.
type pendingWrite struct {
	since      int64  // the round of the watchdog in which it began
	kind       string // the write type for errors; "": the request is no write
	prev, next *request
	listed     bool // the request is among them
	late       bool // the request was answered because its time was over
}

// add adds a request at the end. Its time is counted in rounds of the watchdog: reading the clock would cost as much as
// the rest.
func (w *pendingWrites) add(r *request, kind string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.write = pendingWrite{since: r.conn.server.rounds.Load(), kind: kind, prev: w.last, listed: true}
	if w.last == nil {
		w.first = r
	} else {
		w.last.write.next = r
	}
	w.last = r
}

// remove takes a request out, unless it is out already.
func (w *pendingWrites) remove(r *request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unlink(r)
}

// unlink is remove with the lock held.
func (w *pendingWrites) unlink(r *request) {
	if !r.write.listed {
		return
	}
	prev, next := r.write.prev, r.write.next
	if prev == nil {
		w.first = next
	} else {
		prev.write.next = next
	}
	if next == nil {
		w.last = prev
	} else {
		next.write.prev = prev
	}
	r.write.prev, r.write.next, r.write.listed = nil, nil, false
}

// expire answers the writes that began before a round of the watchdog. It is not known whether they are stored.
func (w *pendingWrites) expire(before int64) {
	for r := w.claimLate(before); r != nil; r = w.claimLate(before) {
		r.observe()
		c := r.conn
		c.out.append(r.header.Stream, nil, c.errorMessage(cqlerr.WriteUnknown(r.writeLevel(), r.write.kind)))
		r.release()
	}
}

// claimLate takes out the first write that began before a round and is not answered; nil: there is none. The caller
// answers and releases it.
func (w *pendingWrites) claimLate(before int64) *request {
	w.mu.Lock()
	defer w.mu.Unlock()
	for r := w.first; r != nil && r.write.since < before; r = r.write.next {
		if r.answered.CompareAndSwap(false, true) {
			r.write.late = true
			r.holders.Add(1)
			w.unlink(r)
			return r
		}
	}
	return nil
}

// largeWrite is the size of a request above which a write waits until the store has written others.
const largeWrite = 64 << 10

// longestDirectWrite is the size of a batch above which it is made on a turn: it may have millions of small values.
const longestDirectWrite = 256 << 10

// startLargeWrite waits until the store has little to write. kind is the write type for errors.
func (r *request) startLargeWrite(kind string) error {
	s := r.conn.server
	n := r.size
	if s.memory.largeWrites.TryTake(n) {
		r.largeWrite = n
		return nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.limits.WriteTimeout)
	defer cancel()
	if err := s.memory.largeWrites.Take(ctx, nil, n); err != nil {
		if s.ctx.Err() != nil {
			return err
		}
		return cqlerr.WriteUnknown(r.consistency(), kind)
	}
	r.largeWrite = n
	return nil
}
