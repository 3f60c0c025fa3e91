package server

import (
	"context"
	"sync"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/store/pace"
)

// writeClass is a class of writes that have the same time.
type writeClass uint8

// The classes of writes.
const (
	plainWrites writeClass = iota
	counterWrites
	conditionalWrites
	truncations
	writeClasses
)

// truncation is the kind of a TRUNCATE among the pending writes.
const truncation = "TRUNCATE"

// classOf returns the class of a kind of write.
func classOf(kind string) writeClass {
	switch kind {
	case exec.Conditional:
		return conditionalWrites
	case "COUNTER":
		return counterWrites
	case truncation:
		return truncations
	}
	return plainWrites
}

// writeTimeout is how long a client waits for a write of a class.
func (l *Limits) writeTimeout(class writeClass) time.Duration {
	switch class {
	case counterWrites:
		return l.CounterTimeout
	case conditionalWrites:
		return l.CASTimeout
	case truncations:
		return l.TruncateTimeout
	}
	return l.WriteTimeout
}

// pendingWrites are the writes of a connection that are not answered.
type pendingWrites struct {
	mu      sync.Mutex
	classes [writeClasses]struct{ first, last *request } // the oldest first
}

// pendingWrite is the place of a request among them.
type pendingWrite struct {
	since      int64  // the round of the watchdog in which it began
	kind       string // the write type for errors; "": the request is no write
	prev, next *request
	listed     bool // the request is among them
	late       bool // the request was answered because its time was over
}

// add adds a request at the end. Its time is counted in rounds of the watchdog: reading the clock would cost as much
// as the rest.
func (w *pendingWrites) add(r *request, kind string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := &w.classes[classOf(kind)]
	r.write = pendingWrite{since: r.conn.server.rounds.Load(), kind: kind, prev: list.last, listed: true}
	if list.last == nil {
		list.first = r
	} else {
		list.last.write.next = r
	}
	list.last = r
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
	list := &w.classes[classOf(r.write.kind)]
	prev, next := r.write.prev, r.write.next
	if prev == nil {
		list.first = next
	} else {
		prev.write.next = next
	}
	if next == nil {
		list.last = prev
	} else {
		next.write.prev = prev
	}
	r.write.prev, r.write.next, r.write.listed = nil, nil, false
}

// expire answers the writes of a class that began before a round of the watchdog.
func (w *pendingWrites) expire(class writeClass, before int64) {
	for r := w.claimLate(class, before); r != nil; r = w.claimLate(class, before) {
		r.observe()
		c := r.conn
		c.out.Append(r.header.Stream, nil, c.errorMessage(r.late()))
		r.release()
	}
}

// late is the error of a write whose time is over. Of most it is not known whether they are stored.
func (r *request) late() error {
	switch r.write.kind {
	case exec.Conditional:
		return r.decision.GiveUp(r.parameters().SerialConsistency)
	case truncation:
		return cqlerr.TruncateTimedOut()
	}
	return cqlerr.WriteUnknown(r.parameters().Consistency, r.write.kind)
}

// claimLate takes out the first write of a class that began before a round and is not answered; nil: there is none.
// The caller answers and releases it.
func (w *pendingWrites) claimLate(class writeClass, before int64) *request {
	w.mu.Lock()
	defer w.mu.Unlock()
	for r := w.classes[class].first; r != nil && r.write.since < before; r = r.write.next {
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

// maxDirectWrite is the size of a batch above which it is made on a turn: it may have millions of small values.
const maxDirectWrite = 256 << 10

// startLargeWrite waits until the store has little to write. kind is the write type for errors.
func (r *request) startLargeWrite(kind string) error {
	s := r.conn.server
	n := r.size
	if s.memory.largeWrites.TryTake(n) {
		r.largeWrite = n
		return nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.limits.writeTimeout(classOf(kind)))
	defer cancel()
	if err := s.memory.largeWrites.Take(ctx, nil, n); err != nil {
		if s.ctx.Err() != nil {
			return err
		}
		return r.notBegun(pace.ErrTimeout, kind)
	}
	r.largeWrite = n
	return nil
}
