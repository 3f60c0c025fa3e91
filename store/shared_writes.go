package store

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// A write that nodes share is committed under the state that it began with. A process may be stopped between the two,
// for longer than its lease lasts. So the write is looked at again when it is committed: if an index has come
// meanwhile, its entries are written too, before the write is answered. Writing mutations twice changes nothing. If a
// view has come meanwhile, its rows may be of what the write has replaced: see shared_views.go.

// confirm calls done when committed mutations have written what the newest definitions want, and their timestamps have
// passed on all nodes. last is the last timestamp that was given before the commit.
func (s *Store) confirm(ms []*Mutation, last int64, done func(error)) {
	if s.isCurrent(ms) && s.cluster.Until(last) == 0 {
		done(nil)
		return
	}
	go func() { done(s.complete(ms, last)) }()
}

// isCurrent reports whether mutations were written under the newest state.
func (s *Store) isCurrent(ms []*Mutation) bool {
	return !slices.ContainsFunc(ms, func(m *Mutation) bool { return s.moved(m.state) })
}

// complete is confirm, and waits.
func (s *Store) complete(ms []*Mutation, last int64) error {
	for !s.isCurrent(ms) {
		if err := s.cluster.Await(s.closing); err != nil {
			return ErrUnknown
		}
		now := s.state.Load()
		if !slices.ContainsFunc(ms, func(m *Mutation) bool { return m.lacksIndexes(now) }) {
			if !s.moved(now) {
				break
			}
			continue
		}
		err := s.writeEntries(ms)
		if err != nil {
			s.log.Error().Err(err).Msg("the entries of an index are not written that came with a write")
			return ErrUnknown
		}
	}
	s.awaitTimestamp(last)
	return nil
}

// writeEntries writes mutations again, under the newest definitions.
func (s *Store) writeEntries(ms []*Mutation) error {
	before := make([]*state, len(ms))
	for i, m := range ms {
		before[i] = m.state
		m.stopWriting()
	}
	first := ms[0]
	ops, err := s.markedOperations(first.ops[:0], ms)
	if first.ops = ops; err != nil {
		return err
	}
	if !slices.ContainsFunc(ms, (*Mutation).hasViews) {
		return s.commit(ops)
	}
	if err := s.writeAgain(ms); err != nil {
		return err
	}
	return s.mendViews(ms, before)
}

// lacksIndexes reports whether a mutation has not written to all indexes that a state has. If its table has another
// number, or none, its rows are gone.
func (m *Mutation) lacksIndexes(now *state) bool {
	id, was := now.ids[m.table.ID], m.state.ids[m.table.ID]
	return id == was && !sameIndexes(now.indexes[id], m.state.indexes[id])
}

// awaitTimestamp waits until a timestamp has passed on all nodes.
func (s *core) awaitTimestamp(last int64) {
	for d := s.cluster.Until(last); d > 0; d = s.cluster.Until(last) {
		time.Sleep(d)
	}
}

// countShared is count where nodes share the engine: counters are read and written in one update.
func (s *Store) countShared(ms []*Mutation, done func(error)) {
	first := ms[0]
	a := &first.apply
	a.store, a.done, a.group = s, done, append(a.group[:0], ms...)
	ops, err := s.markedOperations(first.ops[:0], ms)
	if first.ops = ops; err != nil || len(ops) == 0 {
		first.finish(err)
		return
	}
	if ops, err = unite(ops); err != nil {
		first.finish(err)
		return
	}
	guards, last := [][]byte{bytes.Clone(ops[0].Key)}, s.last.Load()
	var outcome func(error)
	update := func(txn engine.Txn) error { return putTotals(txn, ops) }
	outcome = func(err error) {
		if errors.Is(err, engine.ErrConflict) {
			go s.engine.Update(s.closing, guards, update, outcome)
			return
		}
		if err != nil || s.cluster.Until(last) == 0 {
			first.finish(err)
			return
		}
		go func() {
			s.awaitTimestamp(last)
			first.finish(nil)
		}()
	}
	s.engine.Update(context.Background(), guards, update, outcome)
}

// putTotals adds changes to the totals that are stored. It puts the whole rows, so that the update fails if another one
// comes in between.
func putTotals(txn engine.Txn, ops []engine.Op) error {
	for i := range ops {
		op := &ops[i]
		if op.Kind != engine.Merge || rows.IsTombstoneKey(op.Key) {
			op.WriteTo(txn)
			continue
		}
		var stored []byte
		if _, err := txn.Get(op.Key, func(value []byte) error {
			stored = bytes.Clone(value)
			return nil
		}); err != nil {
			return err
		}
		value := op.Value
		totals := map[uint32]rows.Cell{}
		var err error
		if stored != nil {
			if totals, err = rows.CounterTotals(stored); err != nil {
				return err
			}
		}
		if value, err = rows.AddToTotals(value, totals); err != nil {
			return err
		}
		if stored != nil {
			if value, err = rows.Fold(nil, op.Key, stored, value); err != nil {
				return err
			}
		}
		txn.Put(op.Key, value)
	}
	return nil
}

// commitShared commits what a group of mutations writes, and confirms it.
func (s *Store) commitShared(first *Mutation, ops []engine.Op) {
	last := s.last.Load()
	s.engine.Commit(ops, func(err error) {
		if err != nil {
			first.finish(err)
			return
		}
		s.confirm(first.apply.group, last, first.finish)
	})
}
