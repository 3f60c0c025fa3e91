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

// latestBatch is how many keys a request for one row asks for. A row has fewer deltas where it is compacted in time.
const latestBatch = 64

// The times that a request for one row may take: in the network, and all its repetitions together.
const (
	latestTimeout = 20 * time.Second
	latestBackoff = 2000 // milliseconds
)

// Get reads what was committed last. That is one request if the row is in one region, as nearly all are, and if no
// transaction that writes it is under way.
func (e *Engine) Get(key []byte, fn func(value []byte) error) (found bool, err error) {
	if err := e.enter(); err != nil {
		return false, err
	}
	defer e.under.Done()
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

// latest asks for all keys of a row in one request, without a timestamp. It is not ok if the answer may not be of one
// moment: if a key is locked, or the row does not end in the region or in the answer.
func (e *Engine) latest(key []byte) (r row, ok bool, err error) {
	from := e.valueKey(key)
	to := behind(from)
	bo := tikv.NewBackofferWithVars(context.Background(), latestBackoff, nil)
	place, err := e.cluster.GetRegionCache().LocateKey(bo, from)
	if err != nil || len(place.EndKey) > 0 && string(place.EndKey) < string(to) {
		return row{}, false, nil // a view says what is wrong
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
	a := assembly{head: len(e.prefix) + 1} // of one row, which it keeps
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
