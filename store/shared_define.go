package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/store/cluster"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/tombstones"
)

// defineShared is Define where nodes share the engine. It changes the records of the newest definitions, on the
// condition that these are still the newest, and returns when all nodes have followed.
//
// Nodes may use two consecutive versions at the same time without losing anything, so some definitions take two
// versions:
//
//   - An index is added in one: all nodes write its entries before one of them begins to build it, and reads do not
//     use it before it is built.
//   - An index is first retired: nodes stop reading it, and continue to write its entries. When all have followed it
//     is removed.
//   - A table that is truncated is first suspended: statements wait. When all nodes have followed it gets another
//     number.
//
// The first version is stored together with what it prepares, because another node may continue from there: it has to
// wait until all have followed too.
//
// If a node ends between two versions, the leader reverts the first one (see recover).
func (s *definer) defineShared(change func(*schema.Catalog) (*schema.Catalog, error)) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	for {
		changed, err := s.changeNewest(func(old *state, m *meta) (*state, []engine.Op, bool, error) {
			return s.planChange(old, m, change)
		})
		if err != nil && !errors.Is(err, errUnsettled) {
			return err
		}
		last := s.last.Load()
		if err := s.settle(); err != nil {
			return fmt.Errorf("wait for the other nodes: %w", err)
		}
		if err := s.cluster.AwaitPassed(s.closing, last); err != nil {
			return fmt.Errorf("wait until a timestamp has passed: %w", err)
		}
		if err == nil && changed != changedPart {
			return nil
		}
	}
}

// errUnsettled says that a change follows one that some nodes may not have followed yet.
var errUnsettled = errors.New("some nodes have not followed the definitions yet")

// changed is the outcome of a change.
type changed int

const (
	unchanged    changed = iota // nothing had to be changed
	changedPart                 // the first of two versions is stored
	changedWhole                // all is stored
)

// changePlan makes a change of a state: the next state, and the operations that store it. whole reports whether the
// change is complete. Without a next state there is nothing to change.
type changePlan func(old *state, m *meta) (next *state, ops []engine.Op, whole bool, err error)

// changeNewest is tryChange for the newest definitions. It begins anew where another node changes them meanwhile.
func (s *definer) changeNewest(plan changePlan) (changed, error) {
	for {
		if err := s.cluster.Await(s.closing); err != nil {
			return unchanged, errLapsed
		}
		if err := s.Follow(); err != nil {
			return unchanged, err
		}
		if done, err := s.tryChange(plan); !errors.Is(err, cluster.ErrMoved) {
			return done, err
		}
	}
}

// tryChange stores the change that plan makes of the state in use, and uses it.
func (s *definer) tryChange(plan changePlan) (done changed, err error) {
	s.defining.Lock()
	defer s.defining.Unlock()
	old, m := s.state.Load(), s.meta
	next, ops, whole, err := plan(old, &m)
	if err != nil || next == nil {
		return unchanged, err
	}
	if old.version == 0 {
		for id, version := range old.marked {
			ops = append(ops, putMarkOp(id, version))
		}
	}
	version, err := cluster.Change(s.closing, s.engine, old.version, append(ops, m.op()))
	if err == nil {
		err = s.engine.Sync()
	}
	switch {
	case err == nil:
	case errors.Is(err, engine.ErrTooLarge):
		return unchanged, cqlerr.Serverf("The definitions are too large to be stored together")
	case isRefused(err):
		return unchanged, notWritten(err)
	default:
		return unchanged, fmt.Errorf("store the definitions: %w", err)
	}
	next.version = version
	s.meta = m
	s.install(old, next)
	s.splitNew(old, next)
	if whole {
		return changedWhole, nil
	}
	return changedPart, nil
}

// planChange finds out the changes of a definition, or the preparation that they need.
func (s *definer) planChange(
	old *state, m *meta, change func(*schema.Catalog) (*schema.Catalog, error),
) (next *state, ops []engine.Op, whole bool, err error) {
	c, err := change(old.catalog)
	if err != nil || c == old.catalog {
		return nil, nil, false, err
	}
	before := *m
	if c, err = m.assign(old.catalog, c); err != nil {
		return nil, nil, false, err
	}
	next = newState(c)
	indexes, _ := next.numberIndexes(old, m)
	if first, ops := old.prepare(next); first != nil {
		*m = before
		return first, ops, false, nil
	}
	if old.isUnsettled(next, s.settled.Load()) {
		*m = before
		return nil, nil, false, errUnsettled
	}
	changes := schema.Changes(old.catalog, c)
	next.records = old.records.With(changes)
	ops = append(definitionOps(changes), indexes...)
	for _, id := range missing(old.ids, next.live) {
		ops = append(ops, engine.Op{Kind: engine.Put, Key: deadTableKey(id), Value: []byte{1}},
			dropMarkOp(id))
	}
	next.marked = old.marked // numbers are not used again
	for table := range old.suspended {
		if t := c.TableByID(table); t == nil || old.ids[table] != next.ids[table] {
			ops = append(ops, resumeOp(table))
			continue
		}
		next.suspend(table, old.suspended[table])
	}
	return next, ops, true, nil
}

// prepare returns the state that has to come before the next one, with its operations; nil: none has to.
func (s *state) prepare(next *state) (first *state, ops []engine.Op) {
	between := *s // with the marks
	between.suspended = maps.Clone(s.suspended)
	version := s.version + 1
	for id, number := range s.ids {
		if now, stays := next.ids[id]; stays && now != number && s.suspended[id] == 0 {
			between.suspend(id, version)
			ops = append(ops, suspendOp(id, version))
		}
	}
	for table, all := range s.indexes {
		for _, x := range all {
			if x.Built && !next.live[x.ID] && next.live[table] {
				retired := *x
				retired.Built, retired.Retired = false, version
				between.replaceIndex(&retired)
				ops = append(ops, retired.Record())
			}
		}
	}
	if len(ops) == 0 {
		return nil, nil
	}
	return &between, ops
}

// isUnsettled reports whether the next state depends on a preparation that some nodes may not have followed. settled
// is the version that all nodes have followed.
func (s *state) isUnsettled(next *state, settled uint64) bool {
	for id, number := range s.ids {
		if now, stays := next.ids[id]; stays && now != number && s.suspended[id] > settled {
			return true
		}
	}
	for table, all := range s.indexes {
		for _, x := range all {
			if x.Retired > settled && !next.live[x.ID] && next.live[table] {
				return true
			}
		}
	}
	return false
}

// suspend notes that a table is being truncated, since a version of the definitions.
func (s *state) suspend(table [16]byte, version uint64) {
	if s.suspended == nil {
		s.suspended = map[[16]byte]uint64{}
	}
	s.suspended[table] = version
}

// replaceShared is replaceIndex where nodes share the engine. An index that was retired meanwhile stays as it is.
func (s *definer) replaceShared(x *index.Index) (kept *index.Index, err error) {
	_, err = s.changeNewest(func(old *state, _ *meta) (*state, []engine.Op, bool, error) {
		next := *old
		kept = nil
		for _, now := range old.indexes[x.TableID] {
			if now.ID == x.ID && now.Retired == 0 {
				built := *now
				built.Built = true
				kept = &built
			}
		}
		if kept == nil || !next.replaceIndex(kept) {
			return nil, nil, false, nil
		}
		return &next, []engine.Op{kept.Record()}, true, nil
	})
	return kept, err
}

// recovery is the leader's watch over unfinished definitions.
type recovery struct {
	*definer
	version uint64 // of the unfinished definition
	seen    time.Time
}

// recover reverts definitions that a node has begun and not finished, if nothing has happened for a while: retired
// indexes are built anew, suspended tables are used again. A node that was only slow begins its definition again.
func (s *recovery) recover() error {
	now := s.state.Load()
	begun := len(now.suspended) > 0
	for _, all := range now.indexes {
		begun = begun || slices.ContainsFunc(all, func(x *index.Index) bool { return x.Retired != 0 })
	}
	switch {
	case !begun:
		s.version = 0
		return nil
	case s.version != now.version:
		s.version, s.seen = now.version, time.Now()
	}
	if time.Since(s.seen) < s.cluster.Patience() {
		return nil
	}
	_, err := s.tryChange(func(old *state, _ *meta) (*state, []engine.Op, bool, error) {
		if old.version != now.version {
			return nil, nil, false, nil
		}
		next := *old
		next.suspended = nil
		var ops []engine.Op
		for table := range old.suspended {
			ops = append(ops, resumeOp(table))
		}
		for _, all := range old.indexes {
			for _, x := range all {
				if x.Retired != 0 {
					again := *x
					again.Retired = 0
					next.replaceIndex(&again)
					ops = append(ops, again.Record())
				}
			}
		}
		return &next, ops, true, nil
	})
	if errors.Is(err, cluster.ErrMoved) {
		return nil
	}
	return err
}

func (s *recovery) watch() {
	defer s.running.Done()
	ticker := time.NewTicker(s.cluster.Patience() / 8)
	defer ticker.Stop()
	for {
		select {
		case <-s.closing.Done():
			return
		case <-ticker.C:
		}
		if !s.leads() {
			s.version = 0
			continue
		}
		if err := panics.Call(s.recover); err != nil && s.closing.Err() == nil {
			panics.Log(&s.log, err).Msg("cannot take back a definition that a node has begun yet")
		}
	}
}

// A new table has no rows, and an engine on several machines has it all on one. So the node that defines a table tells
// the engine where to split it: by token, because rows are spread evenly over tokens. Entries of indexes are sorted by
// their values, whose distribution is unknown, so an index is only split from the keys before it.

// splitNew has the engine split the tables and indexes that a definition has added.
func (s *definer) splitNew(old, next *state) {
	e, ok := s.engine.(engine.Splitter)
	if !ok || e.Parts() < 2 {
		return
	}
	for _, id := range next.ids {
		if !old.live[id] {
			e.Split(rows.SplitKeys(id, e.Parts()))
		}
	}
	for _, all := range next.indexes {
		for _, x := range all {
			known := slices.ContainsFunc(old.indexes[x.TableID], func(o *index.Index) bool { return o.ID == x.ID })
			if !known && x.View == nil {
				e.Split(rows.SplitKeys(x.ID, 1))
			}
		}
	}
}

// Most tables never have tombstones of partitions or ranges, and reads of these should not look for them. So a table
// is marked before the first one is written. The mark is a definition, stored with its version: no node reads the
// table without it when the tombstone is committed.

// mark marks the tables in which mutations delete partitions or ranges.
func (s *definer) mark(ms []*Mutation) error {
	for _, m := range ms {
		if m.deletes() == ([tombstones.Kinds]bool{}) {
			continue
		}
		if err := s.markTable(m); err != nil {
			return err
		}
	}
	return nil
}

// markTable marks one table, unless it is marked or gone, and waits until all nodes have followed.
func (s *definer) markTable(m *Mutation) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	_, err := s.changeNewest(func(old *state, _ *meta) (*state, []engine.Op, bool, error) {
		id, ok := old.ids[m.table.ID]
		if _, isMarked := old.marked[id]; !ok || isMarked {
			return nil, nil, false, nil
		}
		next := *old
		next.marked = maps.Clone(old.marked)
		next.marked[id] = old.version + 1
		return &next, []engine.Op{putMarkOp(id, old.version+1)}, true, nil
	})
	if err != nil {
		return err
	}
	return s.settle()
}
