package server

import (
	"sync"

	"github.com/cqld/cqld/cql/cqlerr"
)

// writes are the writes of a connection that are not answered, those that came first in front.
type writes struct {
	mu    sync.Mutex
	first *request
	last  *request
}

// writing is a request's place among them.
type writing struct {
	since      int64  // looks of the watch before it began
	kind       string // of a write, as errors have it; "": the request is no write
	prev, next *request
	listed     bool // it is among them
	late       bool // it was answered because its time was over
}

// add puts a request behind the others. Its time is counted in looks of the watch, because reading the clock costs as
// much as the rest.
func (w *writes) add(r *request, kind string) {
	since := r.conn.server.looks.Load()
	w.mu.Lock()
	defer w.mu.Unlock()
	r.write = writing{since: since, kind: kind, prev: w.last, listed: true}
	if w.last == nil {
		w.first = r
	} else {
		w.last.write.next = r
	}
	w.last = r
}

// remove takes a request out.
func (w *writes) remove(r *request) {
	w.mu.Lock()
	defer w.mu.Unlock()
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

// expire answers the writes that began before a look of the watch. They are not known to be stored, nor not to be.
func (w *writes) expire(before int64) {
	for r := w.takeLate(before); r != nil; r = w.takeLate(before) {
		r.observe()
		c := r.conn
		c.out.append(r.header.Stream, nil, c.errorMessage(cqlerr.WriteUnknown(r.consistency(), r.write.kind)))
		r.release()
	}
}

// takeLate returns the first write that began before a look and is not answered, for its caller to answer and to release;
// or nil.
func (w *writes) takeLate(before int64) *request {
	w.mu.Lock()
	defer w.mu.Unlock()
	for r := w.first; r != nil && r.write.since < before; r = r.write.next {
		if r.answered.CompareAndSwap(false, true) {
			r.write.late = true
			r.holders.Add(1)
			return r
		}
	}
	return nil
}
