package tikv

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/oracle"
)

// Nobody in a cluster without TiDB collects old versions by itself. One of the engines of a prefix does it: the one
// that holds the lease. It tells PD the safe point, below which TiKV keeps only the last version of each key.
const (
	holdEvery    = 30 * time.Second // between looks for views that hold back the safe point
	holdFor      = 5 * time.Minute  // that PD keeps the request of a process that does not come back
	longView     = time.Minute      // the age of a view that is told to PD
	keepVersions = 10 * time.Minute // that versions are kept in any case
	collectEvery = time.Minute      // between collections
	leaseFor     = 3 * time.Minute  // that an engine collects without telling the others again
)

// serviceName is what PD knows the views of this process by.
func (e *Engine) serviceName() string {
	return fmt.Sprintf("cqld-%s-%s", e.options.Prefix, e.id)
}

// holdVersions tells PD of the oldest view for as long as it is long, until ctx ends.
func (e *Engine) holdVersions(ctx context.Context) {
	held := false
	for ctx.Err() == nil {
		var err error
		if held, err = e.holdOldest(ctx, held); err != nil && ctx.Err() == nil {
			e.options.Log.Warn().Err(err).Msg("the cluster was not told which versions are read")
		}
		sleep(ctx, holdEvery)
	}
	if held {
		last, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = e.release(last) // PD forgets it by itself
	}
}

// holdOldest has the versions kept that the oldest view reads. It reports whether PD holds something for this process.
func (e *Engine) holdOldest(ctx context.Context, held bool) (bool, error) {
	first := e.views.oldest()
	if first == 0 || time.Since(oracle.GetTimeFromTS(first)) < longView {
		if held {
			return false, e.release(ctx)
		}
		return false, nil
	}
	least, err := e.cluster.GetPDClient().UpdateServiceGCSafePoint(ctx, e.serviceName(), int64(holdFor.Seconds()), first)
	if err == nil && least > first {
		err = fmt.Errorf("versions are kept from %v on, and a view reads at %v", oracle.GetTimeFromTS(least),
			oracle.GetTimeFromTS(first))
	}
	return true, err
}

// release takes back what holdOldest told PD.
func (e *Engine) release(ctx context.Context) error {
	_, err := e.cluster.GetPDClient().UpdateServiceGCSafePoint(ctx, e.serviceName(), 0, 0)
	return err
}

// collectVersions has old versions collected while this engine holds the lease, until ctx ends.
func (e *Engine) collectVersions(ctx context.Context) {
	for {
		sleep(ctx, collectEvery)
		if ctx.Err() != nil {
			return
		}
		if err := e.collect(ctx, keepVersions); err != nil && ctx.Err() == nil {
			e.options.Log.Warn().Err(err).Msg("old versions were not collected")
		}
	}
}

// collect has versions collected that are older than keep, unless another engine does so.
func (e *Engine) collect(ctx context.Context, keep time.Duration) error {
	mine, err := e.takeLease(ctx, leaseFor)
	if err != nil || !mine {
		return err
	}
	now, err := e.now()
	if err != nil {
		return err
	}
	point := oracle.ComposeTS(oracle.ExtractPhysical(now)-keep.Milliseconds(), 0)
	// PD answers with the least that anybody wants kept. The name's own wish lasts until the next collection.
	name := "cqld-" + e.options.Prefix
	least, err := e.cluster.GetPDClient().UpdateServiceGCSafePoint(ctx, name, int64(leaseFor.Seconds()), point)
	if err != nil {
		return fmt.Errorf("ask for the safe point: %w", err)
	}
	point = min(point, least)
	if first := e.views.oldest(); first != 0 {
		point = min(point, first)
	}
	if _, err := e.cluster.GC(ctx, point); err != nil {
		return fmt.Errorf("move the safe point: %w", err)
	}
	return nil
}

// takeLease takes or prolongs the lease of the collection. It reports false while another engine has it.
func (e *Engine) takeLease(ctx context.Context, lasts time.Duration) (mine bool, err error) {
	txn, err := e.begin()
	if err != nil {
		return false, err
	}
	now := oracle.ExtractPhysical(txn.StartTS())
	key := append(e.area(nil, areaOwn), "collector"...)
	held, err := txn.Get(ctx, key)
	switch {
	case tikverr.IsErrNotFound(err):
	case err != nil:
		return false, err
	case len(held.Value) < stampBytes:
		return false, errValue
	case string(held.Value[stampBytes:]) != e.id && int64(binary.BigEndian.Uint64(held.Value)) > now:
		return false, nil
	}
	lease := binary.BigEndian.AppendUint64(nil, uint64(now+lasts.Milliseconds()))
	if err := txn.Set(key, append(lease, e.id...)); err != nil {
		return false, err
	}
	if err := txn.Commit(ctx); err != nil {
		if lostRace(err) {
			return false, nil
		}
		return false, err
	}
	return true, nil
}
