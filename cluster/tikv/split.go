package tikv

import (
	"context"
	"hash/fnv"
	"time"
)

// The cluster splits a region when it has grown, or when it has got many requests for a while. Until then all requests
// for a new table are for one store. So a new table is split when it is defined, and PD is asked to scatter its
// regions.
//
// PD merges regions that stay small again, an hour after they were split by default (split-merge-interval), unless they
// get many requests. So tables that stay small do not keep regions, and what is loaded into a table later than that
// begins in one region.

// splitQueue is how many tables and indexes may wait for being split, and splitTime how long splitting one is tried.
const (
	splitQueue = 256
	splitTime  = 30 * time.Second
)

// Parts is how many regions a table gets.
func (e *Engine) Parts() int { return e.options.Split }

// Split has regions begin at keys, in the background.
func (e *Engine) Split(keys [][]byte) {
	at := make([][]byte, len(keys))
	for i, key := range keys {
		at[i] = e.valueKey(key)
	}
	select {
	case e.splits <- at:
	default: // many tables are defined, or the cluster is slow
		e.options.Log.Warn().Msg("the regions of a new table are not split: too many wait for that")
	}
}

// runSplits splits what waits for it, one after the other.
func (e *Engine) runSplits(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case keys := <-e.splits:
			e.splitRegions(ctx, keys)
		}
	}
}

// splitRegions splits regions at keys and asks PD to scatter them: those of the same keys over different stores.
func (e *Engine) splitRegions(ctx context.Context, keys [][]byte) {
	ctx, cancel := context.WithTimeout(ctx, splitTime)
	defer cancel()
	h := fnv.New64a()
	_, _ = h.Write(keys[0]) // it never fails
	group := int64(h.Sum64())
	if _, err := e.cluster.SplitRegions(ctx, keys, true, &group); err != nil {
		e.options.Log.Warn().Err(err).Msg("the regions of a new table are not all split and scattered: its load may be on one " +
			"store until it has grown")
	}
}
