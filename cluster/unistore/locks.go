package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"sync"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/tidb/store/mockstore/unistore/pd"
	"github.com/pingcap/tidb/store/mockstore/unistore/tikv"
	"github.com/pingcap/tidb/util/codec"
)

// lockLog has the first phases of commits on disk. TiKV's locks outlive its process, those of unistore are in memory
// only: of a commit whose first key is committed when the process is killed the others would be lost.
type lockLog struct {
	mu   sync.Mutex
	file *os.File
}

// openLocks restores the locks that the file has, and returns a log that goes on with these.
func openLocks(path string, s *tikv.Server, regions pd.Client) (*lockLog, error) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	next, err := os.Create(path + ".next")
	if err != nil {
		return nil, err
	}
	l := &lockLog{file: next}
	for _, r := range lastOfKeys(requestsIn(b)) {
		if err := restore(s, regions, r); err != nil {
			log.Printf("the locks of the transaction %d are lost: %v", r.StartVersion, err)
		}
		if len(r.Mutations) > 0 {
			if err := l.note(r); err != nil {
				return nil, err
			}
		}
	}
	return l, os.Rename(path+".next", path)
}

// requestsIn are the requests in a file, without one that was being written.
func requestsIn(b []byte) (all []*kvrpcpb.PrewriteRequest) {
	for len(b) >= 4 {
		n := int(binary.BigEndian.Uint32(b))
		r := new(kvrpcpb.PrewriteRequest)
		if len(b)-4 < n || r.Unmarshal(b[4:4+n]) != nil {
			break
		}
		all, b = append(all, r), b[4+n:]
	}
	return all
}

// lastOfKeys leaves each key in the last request with it: one transaction at a time has its lock.
func lastOfKeys(all []*kvrpcpb.PrewriteRequest) []*kvrpcpb.PrewriteRequest {
	later := map[string]bool{}
	for _, r := range slices.Backward(all) {
		r.Mutations = slices.DeleteFunc(r.Mutations, func(m *kvrpcpb.Mutation) bool { return later[string(m.Key)] })
		for _, m := range r.Mutations {
			later[string(m.Key)] = true
		}
	}
	return all
}

// note writes a request that has been served, before it is answered. It is not synced: kills are tried, and no power
// cuts.
func (l *lockLog) note(r *kvrpcpb.PrewriteRequest) error {
	b, err := r.Marshal()
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.file.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
	return err
}

// restore locks the keys of a request that are neither committed nor rolled back, and leaves these in it.
func restore(s *tikv.Server, regions pd.Client, r *kvrpcpb.PrewriteRequest) error {
	var failed error
	r.Mutations = slices.DeleteFunc(r.Mutations, func(m *kvrpcpb.Mutation) bool {
		locked, err := restoreKey(s, regions, r, m)
		failed = errors.Join(failed, err)
		return !locked
	})
	return failed
}

// restoreKey locks a key of a request, unless that is over. What was committed is forgotten when it is old and
// something newer was.
func restoreKey(s *tikv.Server, regions pd.Client, r *kvrpcpb.PrewriteRequest, m *kvrpcpb.Mutation) (bool, error) {
	ctx := context.Background()
	at, err := regions.GetRegion(ctx, codec.EncodeBytes(nil, m.Key))
	if err != nil || at == nil {
		return false, fmt.Errorf("no region has %x: %v", m.Key, err)
	}
	in := &kvrpcpb.Context{RegionId: at.Meta.Id, RegionEpoch: at.Meta.RegionEpoch, Peer: at.Meta.Peers[0]}
	of, err := s.MvccGetByKey(ctx, &kvrpcpb.MvccGetByKeyRequest{Context: in, Key: m.Key})
	if err != nil || of.RegionError != nil || of.Error != "" {
		return false, fmt.Errorf("what %x holds: %v, %v, %s", m.Key, err, of.GetRegionError(), of.GetError())
	}
	since := max(r.ForUpdateTs, r.StartVersion)
	isOver := func(w *kvrpcpb.MvccWrite) bool { return w.StartTs == r.StartVersion || w.CommitTs > since }
	if m.Op == kvrpcpb.Op_CheckNotExists || slices.ContainsFunc(of.Info.Writes, isOver) {
		return false, nil
	}
	// As of a pessimistic transaction: whether there are conflicts was found out before.
	again := *r
	again.Context, again.Mutations, again.ForUpdateTs, again.IsPessimisticLock = in, []*kvrpcpb.Mutation{m}, since, nil
	answer, err := s.KvPrewrite(ctx, &again)
	if err == nil && (answer.RegionError != nil || len(answer.Errors) > 0) {
		err = fmt.Errorf("%x: %v, %v", m.Key, answer.RegionError, answer.Errors)
	}
	return err == nil, err
}
