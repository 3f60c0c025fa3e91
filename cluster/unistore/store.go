package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/kvproto/pkg/tikvpb"
	"github.com/pingcap/tidb/store/mockstore/unistore/tikv"
)

// store is unistore with records of locks. TiKV records that a committed transaction has locked a key, and refuses the
// lock to transactions that began earlier. unistore records only puts and deletes, so locks become puts here.
type store struct {
	*tikv.Server
	twoPhases atomic.Bool // all commits have two phases
	commits   *hold
	locks     *lockLog
	underWay  *underWay
}

// switchOnSignal sets twoPhases when the process gets SIGHUP.
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

// prepare adapts the first phase of a commit.
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

// keep logs the locks of a commit with two phases. Locks of asynchronous commits do not survive a kill: a restored
// lock would have another minimum timestamp.
func (s *store) keep(r *kvrpcpb.PrewriteRequest, answer *kvrpcpb.PrewriteResponse) error {
	if r.TryOnePc || r.UseAsyncCommit || answer == nil || answer.RegionError != nil || len(answer.Errors) > 0 {
		return nil
	}
	return s.locks.note(r)
}

// BatchCommands serves requests of all kinds on one stream.
func (s *store) BatchCommands(stream tikvpb.Tikv_BatchCommandsServer) error {
	b := &batches{Tikv_BatchCommandsServer: stream, store: s}
	defer b.prewrites.Range(func(_, p any) bool { // the client has gone
		s.underWay.end(p.(prewrite).keys)
		return true
	})
	return s.Server.BatchCommands(b)
}

// batches is a stream of requests. It answers CheckSecondaryLocks, which resolves asynchronous commits: unistore does
// not answer it on streams.
type batches struct {
	tikvpb.Tikv_BatchCommandsServer
	store     *store
	sending   sync.Mutex
	prewrites sync.Map // unanswered requests by id: prewrite
}

// prewrite is a first phase of a commit.
type prewrite struct {
	*kvrpcpb.PrewriteRequest
	keys []string // blocked for reads until the response
}

// Recv receives the next requests for unistore.
func (b *batches) Recv() (*tikvpb.BatchCommandsRequest, error) {
	all, err := b.Tikv_BatchCommandsServer.Recv()
	if err != nil {
		return nil, err
	}
	kept := &tikvpb.BatchCommandsRequest{}
	commits := false
	for _, r := range all.Requests { // before their own commits begin
		b.store.underWay.await(b.Context(), r)
	}
	for i, r := range all.Requests {
		id := all.RequestIds[i]
		if c := r.GetCheckSecondaryLocks(); c != nil {
			go b.checkSecondaryLocks(id, c)
			continue
		}
		if p := r.GetPrewrite(); p != nil {
			b.store.prepare(p)
			b.prewrites.Store(id, prewrite{p, b.store.underWay.begin(p)})
		}
		commits = commits || r.GetCommit() != nil
		kept.Requests, kept.RequestIds = append(kept.Requests, r), append(kept.RequestIds, id)
	}
	if commits {
		err = b.store.commits.pass(b.Context())
	}
	return kept, err
}

// checkSecondaryLocks answers a request for locks.
func (b *batches) checkSecondaryLocks(id uint64, r *kvrpcpb.CheckSecondaryLocksRequest) {
	locks, err := b.store.KvCheckSecondaryLocks(b.Context(), r)
	if err != nil {
		return // the client retries
	}
	cmd := &tikvpb.BatchCommandsResponse_Response_CheckSecondaryLocks{CheckSecondaryLocks: locks}
	answer := []*tikvpb.BatchCommandsResponse_Response{{Cmd: cmd}}
	_ = b.Send(&tikvpb.BatchCommandsResponse{Responses: answer, RequestIds: []uint64{id}}) // the client is gone
}

// Send sends answers.
func (b *batches) Send(r *tikvpb.BatchCommandsResponse) error {
	for i, id := range r.RequestIds {
		if p, ok := b.prewrites.LoadAndDelete(id); ok {
			p := p.(prewrite)
			b.store.underWay.end(p.keys)
			if err := b.store.keep(p.PrewriteRequest, r.Responses[i].GetPrewrite()); err != nil {
				return err
			}
		}
	}
	b.sending.Lock()
	defer b.sending.Unlock()
	return b.Tikv_BatchCommandsServer.Send(r)
}
