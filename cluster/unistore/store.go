package main

import (
	"context"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/tidb/store/mockstore/unistore/tikv"
)

// store is unistore with records of locks. TiKV notes that a key was locked by a transaction which has committed, and
// refuses the lock to transactions that have begun before. Unistore notes only what is put or deleted. So here locks
// are puts.
type store struct {
	*tikv.Server
	twoPhases bool
	commits   *hold
}

// KvPrewrite is the first phase of a commit.
func (s *store) KvPrewrite(ctx context.Context, r *kvrpcpb.PrewriteRequest) (*kvrpcpb.PrewriteResponse, error) {
	s.prepare(r)
	return s.Server.KvPrewrite(ctx, r)
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
	if s.twoPhases {
		r.TryOnePc, r.UseAsyncCommit = false, false
	}
	for _, m := range r.Mutations {
		if m.Op == kvrpcpb.Op_Lock {
			m.Op, m.Value = kvrpcpb.Op_Put, []byte{0}
		}
	}
}
