package store

import (
	"bytes"
	"errors"
	"math"
	"slices"

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

// viewBuilder makes rows of views outside the writes to their bases: of rows that a base had before its view was
// defined, and again where a write did not know the view.
type viewBuilder struct{ *core }

// viewChunk is how many rows of a base are looked at in one update when a view is built.
const viewChunk = 256

// buildFrom writes the rows of a view for some rows of its base. next is the key to continue from; nil: there are
// no more rows. Other writes to the same partitions wait meanwhile.
func (s viewBuilder) buildFrom(
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
			written, err = s.stage(txn, clock, x, keys)
			return err
		}, func(err error) { outcome <- err })
		if err := <-outcome; !errors.Is(err, engine.ErrConflict) {
			return len(keys), written, next, false, err
		}
	}
}

// stage writes the rows of a view for rows of its base that are there.
func (s viewBuilder) stage(txn engine.Txn, clock uint64, x *index.Index, keys [][]byte) (written int, err error) {
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

// A process may be stopped between the beginning of a write and its commit, while another node defines and builds a
// view. The commit then replaces rows of the base, and the rows that the view has for the replaced ones are unknown.
// So the view's rows of the written partitions are made again; then the whole view is read, and its other rows of
// these partitions are removed. This is rare, and nothing less finds them.

// lateView is a view that some committed writes do not know.
type lateView struct {
	*index.Index
	partitions map[string]bool // of the base, in which the writes are
}

// mend repairs views that mutations did not know when they were committed. before has the states of the commits.
func (s viewBuilder) mend(ms []*Mutation, before []*state) error {
	var late []lateView
	for i, m := range ms {
		for _, x := range viewsAmong(m.state.indexes[m.id]) {
			if slices.ContainsFunc(before[i].indexes[m.id], func(o *index.Index) bool { return o.ID == x.ID }) {
				continue
			}
			at := slices.IndexFunc(late, func(l lateView) bool { return l.ID == x.ID })
			if at < 0 {
				at = len(late)
				late = append(late, lateView{Index: x, partitions: map[string]bool{}})
			}
			late[at].partitions[string(m.partition)] = true
		}
	}
	for _, x := range late {
		if err := s.mendView(x); err != nil {
			return err
		}
	}
	return nil
}

// mendView makes the rows of a view again that are of some partitions of its base, and removes others.
func (s viewBuilder) mendView(x lateView) error {
	for partition := range x.partitions {
		position := rows.AppendPartition(nil, x.Table, x.TableID, []byte(partition))
		for end := rows.Successor(bytes.Clone(position)); position != nil; {
			_, _, next, _, err := s.buildFrom(x.Index, position, end)
			if err != nil {
				return err
			}
			position = next
		}
	}
	start := rows.AppendArea(nil, x.ID, rows.AreaRows)
	for end := rows.Successor(bytes.Clone(start)); start != nil; {
		own, next, err := s.rowsOfView(x, start, end)
		if err != nil {
			return err
		}
		for _, r := range own {
			if err := s.removeUnlessMade(x.Index, r); err != nil {
				return err
			}
		}
		start = next
	}
	return nil
}

// rowOfView is the key of a row of a view, with the row of the base that it is of.
type rowOfView struct {
	key, base, partition []byte
}

// rowsOfView finds rows of a view that belong to certain partitions. next is the key to continue from; nil: there are
// no more.
func (s viewBuilder) rowsOfView(x lateView, start, end []byte) (found []rowOfView, next []byte, err error) {
	var maker index.Maker
	err = s.engine.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
		prefix := rows.PartitionPrefixLength(key)
		if prefix <= 0 || prefix >= len(key) {
			return false, rows.ErrKey
		}
		if err := maker.ReadKey(x.View, key, prefix); err != nil {
			return false, err
		}
		partition, base := x.BaseOf(nil, maker.Fields)
		if !x.partitions[string(partition)] {
			return true, nil
		}
		found = append(found, rowOfView{key: bytes.Clone(key), base: base, partition: partition})
		if len(found) < viewChunk {
			return true, nil
		}
		next = append(bytes.Clone(key), 0)
		return false, nil
	})
	return found, next, err
}

// removeUnlessMade removes a row of a view, unless the base gives it to the view.
func (s viewBuilder) removeUnlessMade(x *index.Index, r rowOfView) error {
	return s.update(s.closing, appendGuard(nil, x.Table, r.partition), func(txn engine.Txn) error {
		w := newViewWriter(s.core, txn, 0, map[uint32][]*index.Index{x.TableID: {x}})
		defer w.base.release()
		if err := w.load(r.base); err != nil {
			return err
		}
		if err := w.make(r.base, w.value); err != nil {
			return err
		}
		if !bytes.Equal(w.made[0].key, r.key) {
			txn.Delete(r.key)
		}
		return nil
	})
}
