package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/tidb/store/mockstore/unistore/tikv"
)

// store is unistore with records of locks. TiKV notes that a key was locked by a transaction which has committed, and
// refuses the lock to transactions that have begun before. Unistore notes only what is put or deleted. So here locks
// are puts.
type store struct {
	*tikv.Server
	twoPhases atomic.Bool // commits have two phases always
	commits   *hold
	locks     *lockLog
	underWay  *underWay
}

// switchOnSignal has all commits that begin later have two phases when the process gets a signal.
func (s *store) switchOnSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		for range signals {
			s.twoPhases.Store(true)
			log.Print("commits have two phases from now on")
		}
	}()
}

// KvPrewrite is the first phase of a commit.
func (s *store) KvPrewrite(ctx context.Context, r *kvrpcpb.PrewriteRequest) (*kvrpcpb.PrewriteResponse, error) {
	s.prepare(r)
	r.TryOnePc, r.UseAsyncCommit = false, false // reads would have to wait
	answer, err := s.Server.KvPrewrite(ctx, r)
	if err == nil {
		err = s.keep(r, answer)
	}
	return answer, err
}

// KvCommit is the second phase.
func (s *store) KvCommit(ctx context.Context, r *kvrpcpb.CommitRequest) (*kvrpcpb.CommitResponse, error) {
	if err := s.commits.pass(ctx); err != nil {
		return nil, err
	}
	return s.Server.KvCommit(ctx, r)
}

// prepare changes the first phase of a commit to what this store does.
func (s *store) prepare(r *kvrpcpb.PrewriteRequest) {
	if s.twoPhases.Load() {
		r.TryOnePc, r.UseAsyncCommit = false, false
	}
	for _, m := range r.Mutations {
		if m.Op == kvrpcpb.Op_Lock {
			m.Op, m.Value = kvrpcpb.Op_Put, []byte{0}
		}
	}
}

// keep keeps the first phase of a commit in two phases, if it has its locks. Of commits that are asynchronous the locks
// do not outlive the process: a restored one would have another least timestamp.
func (s *store) keep(r *kvrpcpb.PrewriteRequest, answer *kvrpcpb.PrewriteResponse) error {
	if r.TryOnePc || r.UseAsyncCommit || answer == nil || answer.RegionError != nil || len(answer.Errors) > 0 {
		return nil
	}
	return s.locks.note(r)
}
