package main

import (
	"context"
	"sync"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/kvproto/pkg/tikvpb"
)

// underWay are the keys of commits with one request, or of asynchronous ones, until these are answered. Such a commit
// chooses its timestamp before its values can be read. TiKV lets nobody read these keys in between. Unistore does: a
// transaction that begins in between reads what was there before, at a timestamp behind that of the commit, and no
// conflict is found when it commits. So here reads wait.
//
// A read that began before a commit is noted has an earlier timestamp than the commit will choose: then the conflict is
// found.
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

// begin notes a commit, if it may choose its timestamp itself, and returns its keys.
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

// end forgets the keys of a commit.
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

// await waits until no commit is under way for what a request reads.
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

// any reports whether a commit is under way for a key that is read. The caller holds mu.
func (u *underWay) any(reads func(key string) bool) bool {
	for key := range u.keys {
		if reads(key) {
			return true
		}
	}
	return false
}
