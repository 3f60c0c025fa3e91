package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/tombstones"
)

// These invariants hold from the beginning of a write, in operations or stage, until its end, in Mutation.stopWriting:
//
//  1. Number. The table has the number that the write's keys have. startWriting looks at the state again after it has
//     counted the write, so a definition that replaces the state either sees the write counted, and waits for it, or
//     the write sees the new state and begins again.
//  2. Indexes. The write's operations include the entries of all indexes that the state has (index.Writer). A new
//     index is built only after the writes that do not know it have ended.
//  3. Views. A write to a table with views is an update with the base's partitions as guards, which reads the rows of
//     the base and writes those of the views. Other writes are blind merges.
//  4. Tombstones. The filters have the write's tombstones, and the empty ranges lack its keys, before the engine has
//     either: Tracker.BeginWrite comes before the commit and Deletion.End after it.
//  5. Timestamps. The server's timestamps only increase. A commit with a timestamp later than
//     the stored bound moves the bound with it (withBound), so this holds after a restart too.
//  6. Shared engines. A write is answered when it was committed under the newest definitions, and when its timestamp
//     has passed on all nodes (confirm).

// applying is the state of an Apply until its commit is done. It is part of the first mutation.
type applying struct {
	store    *Store
	group    []*Mutation
	done     func(error)
	bound    int64       // of timestamps, which the commit moves; 0: it does not
	finished func(error) // calls done
}

// ErrUnknown says that a write may or may not have been stored, as a whole.
var ErrUnknown = engine.ErrUnknown

// Apply writes all mutations atomically and calls done exactly once, perhaps from another goroutine and perhaps
// before it returns. A Read that starts after done sees them. done is short, because other writes wait for it, and
// does not call Apply.
//
// A change of a counter waits for other changes in the same partition.
func (s *Store) Apply(ms []*Mutation, done func(error)) {
	if len(ms) == 0 {
		done(nil)
		return
	}
	if changesCounters(ms) || s.state.Load().anyViewsOf(ms) {
		s.applyInUpdate(ms, done)
		return
	}
	first := ms[0]
	a := &first.apply
	a.store, a.done, a.group = s, done, append(a.group[:0], ms...)
	ops, err := s.markedOperations(first.ops[:0], ms)
	if first.ops = ops; err != nil {
		first.finish(err)
		return
	}
	if slices.ContainsFunc(ms, (*Mutation).hasViews) { // invariant 3: they were added meanwhile
		s.applyInUpdate(ms, done)
		return
	}
	if len(ops) == 0 {
		first.finish(nil)
		return
	}
	if s.cluster != nil {
		s.commitShared(first, ops)
		return
	}
	ops, a.bound = s.withBound(ops)
	if frees(ms) {
		engine.CommitFreeing(s.engine, ops, a.finished)
		return
	}
	s.engine.Commit(ops, a.finished)
}

func guardsOf(ms []*Mutation) [][]byte {
	guards := make([][]byte, len(ms))
	for i, m := range ms {
		guards[i] = appendGuard(nil, m.table, m.partition)
	}
	return guards
}

// freeingContext is the context of an update by mutations, marked if it leads to space being freed.
func freeingContext(ms []*Mutation) context.Context {
	if frees(ms) {
		return engine.WithFreeing(context.Background())
	}
	return context.Background()
}

// frees reports whether mutations only delete, which leads to space being freed: the engine takes them where it has no
// room for others.
func frees(ms []*Mutation) bool {
	return !slices.ContainsFunc(ms, func(m *Mutation) bool { return m.adds })
}

// operations appends the operations of mutations. It begins the mutations, which have to be finished also after an
// error.
func (s *Store) operations(ops []engine.Op, ms []*Mutation) ([]engine.Op, error) {
	begin := len(ops)
	for i := 0; i < len(ms); i++ {
		m := ms[i]
		id, indexes, err := s.startWriting(m)
		if errors.Is(err, errRestoring) { // which waits for the mutations that are begun
			for _, begun := range ms[:i] {
				begun.stopWriting()
			}
			if _, err := s.usable(s.closing, m.table.ID); err != nil {
				return ops, err
			}
			i, ops = -1, ops[:begin]
			continue
		}
		if err != nil {
			return ops, err
		}
		kinds := m.deletes()
		if kinds != ([tombstones.Kinds]bool{}) && m.isUnmarked(id, s.settled.Load()) {
			for _, begun := range ms[:i+1] {
				begun.stopWriting()
			}
			return ops, errUnmarked
		}
		n := len(ops)
		ops = m.appendOps(ops, id)
		m.deleting = s.deletions.BeginWrite(id, rows.TokenOf(m.prefix), kinds, ops[n:])
		if len(indexes) > 0 { // invariant 2
			if m.entries == nil {
				m.entries = index.NewWriter()
			}
			ops, err = m.entries.Append(ops, ops[n:], indexes, len(m.prefix), s.graphs.Round.Load())
			if err != nil {
				return ops, err
			}
		}
	}
	return ops, s.checkKeys(ops)
}

// startWriting finds the number under which a mutation writes, and the indexes that it writes to. Rows under the
// number are not purged until the mutation is finished.
func (s *Store) startWriting(m *Mutation) (uint32, []*index.Index, error) {
	m.endRow()
	for {
		state := s.state.Load()
		if state.restoring != nil || s.lapsed() || state.suspended[m.table.ID] != 0 {
			return 0, nil, errRestoring
		}
		id, err := state.writableID(m.table)
		if err != nil {
			return 0, nil, err
		}
		if state.writing != nil {
			state.writing.Add(1)
		}
		u := s.usages.Of(id)
		period := u.BeginWrite(len(m.spans), len(m.buf), m.due)
		now := s.state.Load()
		if now == state || s.cluster == nil && now.ids[m.table.ID] == id && sameIndexes(now.indexes[id], state.indexes[id]) {
			m.usage, m.period, m.state, m.id = u, period, state, id
			return id, state.indexes[id], nil
		}
		if state.writing != nil {
			state.writing.Add(-1)
		}
		u.EndWrite(period) // invariant 1: the definition may not have waited for the mutation
	}
}

// stopWriting is called when a mutation is committed or has failed.
func (m *Mutation) stopWriting() {
	if m.usage != nil {
		m.usage.EndWrite(m.period)
		if m.state.writing != nil {
			m.state.writing.Add(-1)
		}
	}
	m.deleting.End()
	m.usage, m.state, m.deleting = nil, nil, tombstones.Deletion{}
}

// finish tells the caller of Apply the outcome, and frees the mutations.
func (m *Mutation) finish(err error) {
	done := m.apply.done
	done(m.end(err))
}

// end frees the mutations, and translates the error for clients.
func (m *Mutation) end(err error) error {
	s, group := m.apply.store, m.apply.group
	switch {
	case err == nil:
		s.boundMoved(m.apply.bound)
	case errors.Is(err, engine.ErrTooLarge):
		err = s.tooLarge(m)
	case isRefused(err):
		err = notWritten(err)
	case errors.Is(err, engine.ErrUnknown):
		s.log.Error().Err(err).Msg("nobody knows whether a write is stored")
	}
	m.apply.store, m.apply.done, m.apply.group, m.apply.bound = nil, nil, group[:0], 0
	for i := len(group) - 1; i >= 0; i-- { // the first one last: the slice is part of it
		g := group[i]
		group[i] = nil
		g.stopWriting()
		g.release()
	}
	return err
}

// Remote reports whether the data is on other machines, for which reads and decisions wait.
func (s *core) Remote() bool {
	r, ok := s.engine.(engine.Remote)
	return ok && r.Remote()
}

// writableID is the number of a table's keys at the moment. The table may be as it was before a TRUNCATE.
func (s *state) writableID(t *schema.Table) (uint32, error) {
	if id, ok := s.ids[t.ID]; ok {
		return id, nil
	}
	if s.catalog.Table(t.Keyspace, t.Name) != nil {
		return 0, fmt.Errorf("table %s.%s has no stored rows", t.Keyspace, t.Name)
	}
	return 0, noTable(t)
}

// noTable is the error for a table that was dropped after the statement was planned.
func noTable(t *schema.Table) error { return cqlerr.Invalidf("table %s does not exist", t.Name) }
