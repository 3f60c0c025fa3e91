package badger

import (
	"context"
	"sync"

	"github.com/cqld/cqld/store/engine"
)

// request is one Commit or Update waiting for the writer.
type request struct {
	ops  []engine.Op
	fn   func(engine.Txn) error // of an Update
	ctx  context.Context        // of an Update
	done func(error)

	watch    *emptiedRange // a range to watch for writes
	remember bool          // the watched range was found to be empty
}

// queueLength is how many requests wait for the writer before senders have to wait.
const queueLength = 4096

// queue has the requests that wait for the writer. The writer takes all of them at once, so it and the senders meet
// once for many requests.
type queue struct {
	mu       sync.Mutex
	requests []request
	sleeping bool      // the writer waits for wake
	wake     sync.Cond // there is a request, or the queue is closed
	full     int       // how many wait for room
	room     sync.Cond
	closed   bool
}

func newQueue() *queue {
	q := &queue{}
	q.wake.L, q.room.L = &q.mu, &q.mu
	return q
}

// send adds a request. It reports false if the queue is closed.
func (q *queue) send(r request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.requests) >= queueLength && !q.closed {
		q.full++
		q.room.Wait()
		q.full--
	}
	if q.closed {
		return false
	}
	q.requests = append(q.requests, r)
	if q.sleeping {
		q.sleeping = false
		q.wake.Signal()
	}
	return true
}

// take returns all requests and leaves an empty slice in their place. If wait is set it waits for one, and returns
// none only when the queue is closed.
func (q *queue) take(empty []request, wait bool) []request {
	q.mu.Lock()
	defer q.mu.Unlock()
	for wait && len(q.requests) == 0 && !q.closed {
		q.sleeping = true
		q.wake.Wait()
	}
	taken := q.requests
	q.requests = empty
	if q.full > 0 {
		q.room.Broadcast()
	}
	return taken
}

// close refuses further requests, and reports whether the queue was open. The writer still takes what is in it.
func (q *queue) close() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.closed, q.sleeping = true, false
	q.wake.Signal()
	q.room.Broadcast()
	return true
}
