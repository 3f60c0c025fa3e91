package store

import (
	"context"
	"errors"
	"slices"

	"github.com/cqld/cqld/internal/panics"
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

// Apply writes all mutations atomically and calls done exactly once, perhaps from another goroutine and perhaps
// before it returns. A Read that starts after done sees them. done is short, because other writes wait for it, and
// does not call Apply.
//
// A change of a counter waits for other changes in the same partition.
func (s *writer) Apply(ms []*Mutation, done func(error)) {
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
	a.store, a.done, a.group = s.core, done, append(a.group[:0], ms...)
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
func (s *writer) operations(ops []engine.Op, ms []*Mutation) (_ []engine.Op, err error) {
	defer panics.Into(&err)
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
func (s *writer) startWriting(m *Mutation) (uint32, []*index.Index, error) {
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
		s.log.Error().Err(err).Msg("it is unknown whether a write is stored")
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

func (s *writer) applyInUpdate(ms []*Mutation, done func(error)) {
	first := ms[0]
	a := &first.apply
	a.store, a.done, a.group = s.core, done, append(a.group[:0], ms...)
	w := newWriteInUpdate(s, a.group) // the caller may use ms again
	if s.Remote() {
		panics.Go(&s.log, w.submit)
		return
	}
	w.submit()
}

// writeInUpdate is one Apply of mutations that change counters, or some of which are of tables with views.
type writeInUpdate struct {
	store  *writer
	ms     []*Mutation
	guards [][]byte
	last   int64  // timestamp that was given, where nodes share the engine
	clock  uint64 // of deletions, before the transaction began
}

func newWriteInUpdate(s *writer, ms []*Mutation) *writeInUpdate {
	return &writeInUpdate{store: s, ms: ms, guards: guardsOf(ms), clock: s.deletions.Clock()}
}

func (w *writeInUpdate) submit() {
	w.store.engine.Update(freeingContext(w.ms), w.guards, w.update, w.outcome)
}

func (w *writeInUpdate) update(txn engine.Txn) error {
	s := w.store
	for _, m := range w.ms {
		m.stopWriting() // it was begun for a transaction that failed
	}
	w.last = s.last.Load()
	if s.lapsed() {
		return errTruncated
	}
	return s.stage(txn, w.ms, w.clock, nil)
}

// outcome ends the write, or begins it again.
func (w *writeInUpdate) outcome(err error) {
	s, first := w.store, w.ms[0]
	switch {
	case isRetried(err):
		panics.Go(&s.log, func() {
			if err := s.awaitRetry(s.closing, err, first.table.ID, w.ms); err != nil {
				first.finish(err)
				return
			}
			w.submit()
		})
	case err == nil && s.cluster != nil:
		ms := w.ms
		if changesCounters(ms) { // whose tables have no indexes, and which must not be written twice
			ms = nil
		}
		s.confirm(ms, w.last, first.finish)
	default:
		first.finish(err)
	}
}

// writeAgain writes mutations under the newest definitions, and waits.
func (s *writer) writeAgain(ms []*Mutation) error {
	w := newWriteInUpdate(s, ms)
	for {
		outcome := make(chan error, 1)
		s.engine.Update(s.closing, w.guards, w.update, func(err error) { outcome <- err })
		err := <-outcome
		if !isRetried(err) {
			return err
		}
		if err := s.awaitRetry(s.closing, err, ms[0].table.ID, ms); err != nil {
			return err
		}
	}
}
