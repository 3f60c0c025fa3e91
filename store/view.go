package store

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
)

// A materialized view is a table with another number than its base. Its rows are written in the same update of the
// engine as the rows of the base that they are made of, with the partitions of the base as guards (see
// view_writes.go). A row of a view is replaced as a whole and removed without a tombstone, because at any time it
// follows from one row of the base.
//
// A row of a view exists as long as its marker does. The marker ends with the cell that is in the view's key, or else
// with the last part of the base's row. So expiry in the view needs no write.

// viewOf returns the index.Index of a view, or nil.
func (s *state) viewOf(view *schema.Table) *index.Index {
	for _, x := range s.indexes[s.ids[view.View.BaseID]] {
		if x.View != nil && x.View.ID == view.ID {
			return x
		}
	}
	return nil
}

// IsViewBuilt reports whether a view has the rows that its base had before the view was defined.
func (s *builder) IsViewBuilt(view *schema.Table) bool {
	x := s.current().viewOf(view)
	return x != nil && x.Built
}

// makeViewRow makes the row of a view, given the row of the base as it was written: nothing has expired. It returns
// nil if the view has no row for it. now is the second in which that happens.
func makeViewRow(x *index.Index, row *Row, head *rows.Head, kept []rows.Cell, now int64) *Mutation {
	inKey := len(x.View.PartitionKey)
	values := make([][]byte, len(x.Places), 8)
	for i, place := range x.Places {
		value := row.Values[place]
		if value == nil || inKey > 1 && i < inKey && len(value) > math.MaxUint16 {
			return nil
		}
		values[i] = value
	}
	for i := range x.View.View.Where {
		if !x.View.View.Where[i].Holds(x.Table, row.Values) {
			return nil
		}
	}
	ends, ok := rowEnds(x, row, head, kept, now)
	if !ok {
		return nil
	}
	m := NewMutation(x.View, index.JoinKey(nil, values[:inKey]))
	m.Row(values[inKey:])
	m.Mark(written(row, head, kept), ends)
	for i := range kept {
		c := kept[i]
		if id, ok := x.Columns[c.Column]; ok {
			c.Column = id
			m.addCell(c)
		}
	}
	m.endRow()
	return m
}

// written is the timestamp of a row of a view: the earliest of the base's row, because a row without older cells is
// read faster. If cells expire, it is that of the marker or of the first cell: by it reads decide whether an expired
// part counts as a tombstone.
func written(row *Row, head *rows.Head, kept []rows.Cell) int64 {
	first := head.Marker.Timestamp
	if !row.Marked && len(kept) > 0 {
		first = kept[0].Timestamp
	}
	earliest := first
	for i := range kept {
		if kept[i].Expiry.At != 0 {
			return first
		}
		earliest = min(earliest, kept[i].Timestamp)
	}
	return earliest
}

// rowEnds returns when the row of a view ends. It is not ok if a sweep has taken the value that is in its key.
func rowEnds(x *index.Index, row *Row, head *rows.Head, kept []rows.Cell, now int64) (ends Expiry, ok bool) {
	if x.Column != nil {
		for i := range kept {
			if c := &kept[i]; c.Column == x.Column.ID {
				return c.Expiry, c.Expiry.At == 0 || c.Expiry.At > now || len(c.Value) > 0
			}
		}
		return Expiry{}, false
	}
	last := func(e Expiry) {
		if e.At == 0 {
			e.At = math.MaxInt64
		}
		if e.At > ends.At {
			ends = e
		}
	}
	if row.Marked {
		last(head.Marker.Expiry)
	}
	for i := range kept {
		last(kept[i].Expiry)
	}
	if ends.At == math.MaxInt64 {
		return Expiry{}, true
	}
	return ends, ends.At != 0
}

// viewChunk is how many rows of a base are looked at in one update when a view is built.
const viewChunk = 256

// buildViewFrom writes the rows of a view for some rows of its base. next is the key to continue from; nil: there are
// no more rows. Other writes to the same partitions wait meanwhile.
func (s *builder) buildViewFrom(
	x *index.Index, start, end []byte,
) (seen, written int, next []byte, gone bool, err error) {
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

// A definition waits for views of small tables: they have all rows when CREATE returns.
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
