package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/kvproto/pkg/tikvpb"
)

// underWay has the keys of unanswered commits that choose their own timestamp: asynchronous ones and commits with one
// request. Such a commit chooses its timestamp before its values are visible, and TiKV blocks reads of its keys
// meanwhile. unistore does not: a transaction that begins meanwhile reads the old values at a later timestamp, and
// commits without a conflict. So reads wait here.
//
// A read before the commit has begun has an earlier timestamp, so its conflict is detected.
type underWay struct {
	mu     sync.Mutex
	change *sync.Cond
	keys   map[string]int
}

func newUnderWay() *underWay {
	u := &underWay{keys: map[string]int{}}
	u.change = sync.NewCond(&u.mu)
	return u
}

// begin adds the keys of a commit that may choose its own timestamp, and returns them.
func (u *underWay) begin(r *kvrpcpb.PrewriteRequest) (keys []string) {
	if !r.TryOnePc && !r.UseAsyncCommit {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, m := range r.Mutations {
		u.keys[string(m.Key)]++
		keys = append(keys, string(m.Key))
	}
	return keys
}

// end removes the keys of a commit.
func (u *underWay) end(keys []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, key := range keys {
		if u.keys[key]--; u.keys[key] == 0 {
			delete(u.keys, key)
		}
	}
	u.change.Broadcast()
}

// await waits until no commit blocks the keys of a request.
func (u *underWay) await(ctx context.Context, r *tikvpb.BatchCommandsRequest_Request) {
	var reads func(key string) bool
	switch {
	case r.GetScan() != nil:
		s := r.GetScan()
		from, to := string(s.StartKey), string(s.EndKey)
		if s.Reverse {
			from, to = to, from
		}
		reads = func(key string) bool { return from <= key && (to == "" || key < to) }
	case r.GetGet() != nil:
		get := string(r.GetGet().Key)
		reads = func(key string) bool { return key == get }
	default:
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.any(reads) && ctx.Err() == nil {
		u.change.Wait()
	}
}

// any reports whether a commit blocks one of the keys. The caller holds mu.
func (u *underWay) any(reads func(key string) bool) bool {
	for key := range u.keys {
		if reads(key) {
			return true
		}
	}
	return false
}

// hold pauses the second phases of commits, so that a test can kill a node between the two phases. Requests of a
// killed node are dropped.
type hold struct {
	mu     sync.Mutex
	change *sync.Cond
	on     bool
}

// holdOnSignals returns a hold that SIGUSR1 turns on and SIGUSR2 turns off.
func holdOnSignals() *hold {
	h := &hold{}
	h.change = sync.NewCond(&h.mu)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2)
	go func() {
		for s := range signals {
			h.mu.Lock()
			h.on = s == syscall.SIGUSR1
			h.change.Broadcast()
			h.mu.Unlock()
		}
	}()
	return h
}

// pass waits while commits are paused. It fails if the client has gone meanwhile.
func (h *hold) pass(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.on {
		return nil
	}
	defer context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.change.Broadcast()
	})()
	log.Print("a commit is held")
	for h.on && ctx.Err() == nil {
		h.change.Wait()
	}
	if ctx.Err() != nil {
		log.Print("a commit is dropped")
	}
	return ctx.Err()
}
