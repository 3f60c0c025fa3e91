package badger

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/store/engine"
)

// requestOf is a request that is told from others by its operations.
func requestOf(sender, n int) request {
	return request{ops: make([]engine.Op, sender), watch: &emptiedRange{passed: n}}
}

// TestQueueOrder sends from many sides, more than there is room for: each one's requests come in its order, and all of
// them, those that were sent before the end too.
func TestQueueOrder(t *testing.T) {
	const senders, each = 8, 2 * queueLength
	q := newQueue()
	var sending sync.WaitGroup
	for i := range senders {
		sending.Go(func() {
			for n := range each {
				if !q.send(requestOf(i, n)) {
					t.Errorf("request %d is refused", n)
					return
				}
			}
		})
	}
	go func() {
		sending.Wait()
		q.close()
	}()
	var next [senders]int
	var taken []request
	for {
		if taken = q.take(taken[:0], true); len(taken) == 0 {
			break
		}
		if len(taken) > queueLength {
			t.Fatalf("%d requests waited", len(taken))
		}
		for _, r := range taken {
			if sender, n := len(r.ops), r.watch.passed; n != next[sender] {
				t.Fatalf("request %d of %d comes instead of %d", n, sender, next[sender])
			}
			next[len(r.ops)]++
		}
	}
	for i, n := range next {
		if n != each {
			t.Errorf("%d of %d requests of %d came", n, each, i)
		}
	}
}

// TestQueueClose closes a queue while some wait for room and nobody takes anything.
func TestQueueClose(t *testing.T) {
	q := newQueue()
	for n := range queueLength {
		q.send(requestOf(0, n))
	}
	var refused atomic.Int32
	var sending sync.WaitGroup
	for range 4 {
		sending.Go(func() {
			if !q.send(requestOf(1, 0)) {
				refused.Add(1)
			}
		})
	}
	for q.waiting() < 4 {
		time.Sleep(time.Millisecond)
	}
	if !q.close() || q.close() {
		t.Error("a queue is not closed once")
	}
	sending.Wait()
	if n := refused.Load(); n != 4 {
		t.Errorf("%d of 4 that waited are refused", n)
	}
	if n := len(q.take(nil, false)); n != queueLength {
		t.Errorf("there are %d requests instead of %d", n, queueLength)
	}
	if n := len(q.take(nil, true)); n != 0 {
		t.Errorf("behind the last there are %d", n)
	}
}

// waiting is how many wait for room.
func (q *queue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.full
}
