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

// lockLog logs the first phases of commits to disk. TiKV's locks survive a kill, but unistore has them only in memory:
// a kill after the first key of a commit is committed would lose the other keys.
type lockLog struct {
	mu   sync.Mutex
	file *os.File
}

// openLocks restores the locks in a file and returns a new log with them.
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

// requestsIn returns the requests in a file, except a torn one.
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

// lastOfKeys removes each key from all but its last request: only one transaction at a time has its lock.
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

// note logs a request before its response is sent. It does not sync: tests kill processes but do not cut the power.
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

// restore locks the keys of a request that are neither committed nor rolled back, and removes the others.
func restore(s *tikv.Server, regions pd.Client, r *kvrpcpb.PrewriteRequest) error {
	var failed error
	r.Mutations = slices.DeleteFunc(r.Mutations, func(m *kvrpcpb.Mutation) bool {
		locked, err := restoreKey(s, regions, r, m)
		failed = errors.Join(failed, err)
		return !locked
	})
	return failed
}

// restoreKey locks a key of a request, unless its transaction has ended. A later commit of the key shows that too: old
// versions may have been collected.
func restoreKey(s *tikv.Server, regions pd.Client, r *kvrpcpb.PrewriteRequest, m *kvrpcpb.Mutation) (bool, error) {
	ctx := context.Background()
	at, err := regions.GetRegion(ctx, codec.EncodeBytes(nil, m.Key))
	if err != nil || at == nil {
		return false, fmt.Errorf("no region has %x: %v", m.Key, err)
	}
	in := &kvrpcpb.Context{RegionId: at.Meta.Id, RegionEpoch: at.Meta.RegionEpoch, Peer: at.Meta.Peers[0]}
	of, err := s.MvccGetByKey(ctx, &kvrpcpb.MvccGetByKeyRequest{Context: in, Key: m.Key})
	if err != nil || of.RegionError != nil || of.Error != "" {
		return false, fmt.Errorf("read %x: %v, %v, %s", m.Key, err, of.GetRegionError(), of.GetError())
	}
	since := max(r.ForUpdateTs, r.StartVersion)
	isOver := func(w *kvrpcpb.MvccWrite) bool { return w.StartTs == r.StartVersion || w.CommitTs > since }
	if m.Op == kvrpcpb.Op_CheckNotExists || slices.ContainsFunc(of.Info.Writes, isOver) {
		return false, nil
	}
	// As a pessimistic transaction, because conflicts have been checked before.
	again := *r
	again.Context, again.Mutations, again.ForUpdateTs, again.IsPessimisticLock = in, []*kvrpcpb.Mutation{m}, since, nil
	answer, err := s.KvPrewrite(ctx, &again)
	if err == nil && (answer.RegionError != nil || len(answer.Errors) > 0) {
		err = fmt.Errorf("%x: %v, %v", m.Key, answer.RegionError, answer.Errors)
	}
	return err == nil, err
}
