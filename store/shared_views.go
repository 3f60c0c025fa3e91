package store

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
)

// A process may be stopped between the beginning of a write and its commit, while another node defines and builds a
// view. The commit then replaces rows of the base, and the rows that the view has for the replaced ones are unknown.
// So the view's rows of the written partitions are made again; then the whole view is read, and its other rows of
// these partitions are removed. This is rare, and nothing less finds them.

// lateView is a view that some committed writes do not know.
type lateView struct {
	*index.Index
	partitions map[string]bool // of the base, in which the writes are
}

// mendViews repairs views that mutations did not know when they were committed. before has the states of the commits.
func (s *Store) mendViews(ms []*Mutation, before []*state) error {
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
func (s *Store) mendView(x lateView) error {
	for partition := range x.partitions {
		position := rows.AppendPartition(nil, x.Table, x.TableID, []byte(partition))
		for end := rows.Successor(bytes.Clone(position)); position != nil; {
			_, _, next, _, err := s.buildViewFrom(x.Index, position, end)
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
func (s *Store) rowsOfView(x lateView, start, end []byte) (found []rowOfView, next []byte, err error) {
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
func (s *Store) removeUnlessMade(x *index.Index, r rowOfView) error {
	return s.update(s.closing, appendGuard(nil, x.Table, r.partition), func(txn engine.Txn) error {
		w := newViewWriter(&s.core, txn, 0, map[uint32][]*index.Index{x.TableID: {x}})
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
