package store

import (
	"errors"
	"slices"

	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/engine"
)

// A write to a shared engine is committed under the state that it began with. The process may be stopped between the
// two for longer than its lease. So the write is checked again after the commit: if an index was added meanwhile, its
// entries are written before the write is answered. Writing mutations twice changes nothing. If a view was added
// meanwhile, it may have rows for replaced ones: see view_build.go.

// confirm calls done when committed mutations comply with the newest definitions, and their timestamps have passed on
// all nodes. last is the last timestamp given before the commit.
func (s *writer) confirm(ms []*Mutation, last int64, done func(error)) {
	if s.isCurrent(ms) && s.cluster.HasPassed(last) {
		done(nil)
		return
	}
	panics.Go(&s.log, func() {
		err := panics.Call(func() error { return s.complete(ms, last) })
		if panics.Is(err) {
			panics.Log(&s.log, err).Msg("it is unknown whether a write has what newer definitions want")
			err = ErrUnknown
		}
		done(err)
	})
}

// isCurrent reports whether mutations were written under the newest state.
func (s *writer) isCurrent(ms []*Mutation) bool {
	return !slices.ContainsFunc(ms, func(m *Mutation) bool { return s.moved(m.state) })
}

func (s *writer) complete(ms []*Mutation, last int64) error {
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
	if s.cluster.AwaitPassed(s.closing, last) != nil {
		return ErrUnknown
	}
	return nil
}

// writeEntries writes mutations again, under the newest definitions.
func (s *writer) writeEntries(ms []*Mutation) error {
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
	return viewBuilder{s.core}.mend(ms, before)
}

// lacksIndexes reports whether a mutation has not written to all indexes that a state has. If its table has another
// number, or none, its rows are gone.
func (m *Mutation) lacksIndexes(now *state) bool {
	id, was := now.ids[m.table.ID], m.state.ids[m.table.ID]
	return id == was && !sameIndexes(now.indexes[id], m.state.indexes[id])
}

func (s *writer) commitShared(first *Mutation, ops []engine.Op) {
	last := s.last.Load()
	s.engine.Commit(ops, func(err error) {
		if err != nil {
			first.finish(err)
			return
		}
		s.confirm(first.apply.group, last, first.finish)
	})
}

// isUnmarked reports whether the mutation's table has to be marked before a tombstone is written, or whether some
// nodes may not have followed the mark. settled is the version that all nodes have.
func (m *Mutation) isUnmarked(id uint32, settled uint64) bool {
	version, ok := m.state.marked[id]
	return m.state.marked != nil && (!ok || version > settled)
}

// markedOperations is operations, and marks tables before.
func (s *writer) markedOperations(ops []engine.Op, ms []*Mutation) ([]engine.Op, error) {
	begin := len(ops)
	for {
		all, err := s.operations(ops[:begin], ms)
		if !errors.Is(err, errUnmarked) {
			return all, err
		}
		if err := s.definer.mark(ms); err != nil {
			return all, err
		}
	}
}
