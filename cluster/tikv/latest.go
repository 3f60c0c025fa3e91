package tikv

import (
	"context"
	"math"
	"time"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/cqld/cqld/store/engine"
)

// The limits of a request for the latest row.
const (
	latestBatch   = 64 // keys; a row has fewer, because it is compacted
	latestTimeout = 20 * time.Second
	latestBackoff = 2000 // of all retries, in milliseconds
)

// Get reads the latest value. That is one request if the row lies in one region, as nearly all rows do, and no running
// transaction writes it.
func (e *Engine) Get(key []byte, fn func(value []byte) error) (found bool, err error) {
	if err := e.enter(); err != nil {
		return false, err
	}
	defer e.calls.Done()
	r, ok, err := e.latest(key)
	if err != nil {
		return false, err
	}
	if !ok {
		ts, err := e.now()
		if err != nil {
			return false, err
		}
		err = e.viewAt(ts, func(v *view) error {
			found, err = v.Get(key, fn)
			return err
		})
		return found, err
	}
	if r.empty() {
		return false, nil
	}
	e.noteDeltas(&r)
	value, err := r.folded(e.fold)
	if err != nil {
		return false, err
	}
	return true, fn(value)
}

// latest reads all keys of a row in one request, without a timestamp. It is not ok if the response may be
// inconsistent: a key is locked, or the row continues after the region or after the response.
func (e *Engine) latest(key []byte) (r row, ok bool, err error) {
	from := e.valueKey(key)
	to := after(from)
	bo := tikv.NewBackofferWithVars(context.Background(), latestBackoff, nil)
	place, err := e.cluster.GetRegionCache().LocateKey(bo, from)
	if err != nil || len(place.EndKey) > 0 && string(place.EndKey) < string(to) {
		return row{}, false, nil // the view returns the error
	}
	request := tikvrpc.NewRequest(tikvrpc.CmdScan, &kvrpcpb.ScanRequest{
		StartKey: from, EndKey: to, Limit: latestBatch, Version: math.MaxUint64,
	})
	response, err := e.cluster.SendReq(bo, request, place.Region, latestTimeout)
	if err != nil {
		return row{}, false, nil
	}
	if wrong, err := response.GetRegionError(); err != nil || wrong != nil {
		return row{}, false, nil
	}
	answer, isScan := response.Resp.(*kvrpcpb.ScanResponse)
	if !isScan || answer.Error != nil || len(answer.Pairs) >= latestBatch {
		return row{}, false, nil
	}
	a := assembly{head: len(e.prefix) + 1}
	for _, pair := range answer.Pairs {
		if pair.Error != nil {
			return row{}, false, nil
		}
		if _, err := a.add(pair.Key, pair.Value); err != nil {
			return row{}, false, err
		}
	}
	return a.row, true, nil
}

var _ engine.Reader = (*Engine)(nil)
