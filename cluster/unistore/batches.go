package main

import (
	"sync"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/kvproto/pkg/tikvpb"
)

// BatchCommands serves requests of all kinds on one stream.
func (s *store) BatchCommands(stream tikvpb.Tikv_BatchCommandsServer) error {
	b := &batches{Tikv_BatchCommandsServer: stream, store: s}
	defer b.prewrites.Range(func(_, p any) bool { // whose answers nobody waits for
		s.underWay.end(p.(prewrite).keys)
		return true
	})
	return s.Server.BatchCommands(b)
}

// batches is a stream of requests. Unistore has no answer there to whoever asks for the other locks of a transaction,
// which resolves asynchronous commits, so that is answered here.
type batches struct {
	tikvpb.Tikv_BatchCommandsServer
	store     *store
	sending   sync.Mutex
	prewrites sync.Map // requests by their ids, until they are answered: prewrite
}

// prewrite is a first phase of a commit.
type prewrite struct {
	*kvrpcpb.PrewriteRequest
	keys []string // that nobody may read until it is answered
}

// Recv receives the next requests that unistore answers.
func (b *batches) Recv() (*tikvpb.BatchCommandsRequest, error) {
	all, err := b.Tikv_BatchCommandsServer.Recv()
	if err != nil {
		return nil, err
	}
	kept := &tikvpb.BatchCommandsRequest{}
	commits := false
	for _, r := range all.Requests { // before the commits among them are noted
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

// checkSecondaryLocks answers a request.
func (b *batches) checkSecondaryLocks(id uint64, r *kvrpcpb.CheckSecondaryLocksRequest) {
	locks, err := b.store.KvCheckSecondaryLocks(b.Context(), r)
	if err != nil {
		return // the client asks again
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
