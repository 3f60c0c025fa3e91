package store

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/cqld/cqld/store/index"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// viewChunk is how many rows of a base are looked at in one update when a view is built.
const viewChunk = 256

// buildViewFrom writes the rows of a view that belong to some rows of its base. next is the key to go on from, or nil
// behind the last row. Other writes to the same partitions wait meanwhile.
func (s *builder) buildViewFrom(x *index.Index, start, end []byte) (seen, written int, next []byte, gone bool, err error) {
	var keys, guards [][]byte
	var place readPlace
	size := 0
	err = s.engine.Scan(start, end, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
		key = bytes.Clone(key)
		if !bytes.HasPrefix(key, place.prefix) || len(place.prefix) == 0 {
			if err := place.enter(key); err != nil {
				return false, err
			}
			guards = append(guards, appendGuard(nil, x.Table, place.partition))
		}
		keys = append(keys, key)
		if size += len(key) + len(value); len(keys) < viewChunk && size < min(chunkBytes, s.limits.CommitBytes/4) {
			return true, nil
		}
		next = append(bytes.Clone(key), 0)
		return false, nil
	})
	if err != nil || len(keys) == 0 {
		return 0, 0, nil, false, err
	}
	u := s.usages.Of(x.TableID)
	defer u.EndWrite(u.BeginWrite(0, 0, math.MaxInt64))
	for {
		now := s.state.Load().indexes[x.TableID]
		if !slices.ContainsFunc(now, func(o *index.Index) bool { return o.ID == x.ID }) {
			return 0, 0, nil, true, nil
		}
		outcome, clock := make(chan error, 1), s.deletions.Clock()
		s.engine.Update(s.closing, guards, func(txn engine.Txn) (err error) {
			written, err = s.stageView(txn, clock, x, keys)
			return err
		}, func(err error) { outcome <- err })
		if err := <-outcome; !errors.Is(err, engine.ErrConflict) {
			return len(keys), written, next, false, err
		}
	}
}

// stageView writes the rows of a view for rows of its base that are there.
func (s *builder) stageView(txn engine.Txn, clock uint64, x *index.Index, keys [][]byte) (written int, err error) {
	w := newViewWriter(s.core, txn, clock, map[uint32][]*index.Index{x.TableID: {x}})
	defer w.base.release()
	for _, key := range keys {
		if key[rows.PartitionPrefixLength(key)] != rows.KindRow {
			continue
		}
		if err := w.follow(&viewChange{key: key, before: []viewRow{{}}}); err != nil {
			return 0, err
		}
	}
	w.writeViews(txn)
	return len(w.ops), nil
}

// What a definition waits for: views whose base is small have all rows when CREATE returns.
const (
	awaitedRows = 10_000
	awaitedTime = 2 * time.Second
)

// awaitViews waits until the views are built that a definition has made of small tables. It gives that up when builds
// have failed more often than before the definition.
func (s *builder) awaitViews(before, after *state, failed uint64) {
	if s.still || !after.anyViews {
		return
	}
	end := time.Now().Add(awaitedTime)
	for id, all := range after.indexes {
		for _, x := range all {
			if x.View == nil || x.Built || before.live[x.ID] || s.usages.Of(id).Estimate().Rows > awaitedRows {
				continue
			}
			for time.Now().Before(end) && s.isBuilding(x) && s.unbuilt.Load() == failed {
				time.Sleep(100 * time.Microsecond)
			}
		}
	}
}

// isBuilding reports whether a view lacks rows of its base, and will have them.
func (s *builder) isBuilding(x *index.Index) bool {
	now := s.state.Load().viewOf(x.View)
	return s.closing.Err() == nil && now != nil && !now.Built && now.ID == x.ID
}
