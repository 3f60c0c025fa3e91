package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
)

// definer replaces the definitions. Where nodes share the engine it also follows the definitions of other nodes.
type definer struct {
	*core
	meta   meta        // guarded by defining
	toUndo []engine.Op // undo definitions that failed and may be in the engine; guarded by defining

	// Where nodes share the engine:
	changing sync.Mutex // held by a definition, until all nodes have followed
	former   []*state   // under which unanswered writes may have begun; guarded by defining
	onFollow func(before, after *schema.Catalog)
	followed [][2]*schema.Catalog // arguments of pending calls of onFollow; guarded by defining
	toTell   chan struct{}        // has an element when followed has some
}

// define is Define where the engine is not shared. It does not wait for views.
func (s *definer) define(change func(*schema.Catalog) (*schema.Catalog, error)) error {
	s.defining.Lock()
	defer s.defining.Unlock()
	old := s.state.Load()
	c, err := change(old.catalog)
	if err != nil || c == old.catalog {
		return err
	}
	m := s.meta
	if c, err = m.assign(old.catalog, c); err != nil {
		return err
	}
	next := newState(c)
	next.virtual = old.virtual
	indexes, undo := next.numberIndexes(old, &m)
	dead := missing(old.ids, next.live)
	ops := slices.Concat(s.toUndo, []engine.Op{m.op()}, definitionOps(schema.Changes(old.catalog, c)), indexes)
	undo = append(undo, definitionOps(schema.Changes(c, old.catalog))...)
	for _, id := range dead {
		ops = append(ops, engine.Op{Kind: engine.Put, Key: deadTableKey(id), Value: []byte{1}})
		undo = append(undo, engine.Op{Kind: engine.Delete, Key: deadTableKey(id)})
	}
	ops, bound := s.withBound(ops)
	if applied, err := s.commitDefinitions(ops, len(dead) > 0); err != nil {
		if applied {
			s.meta = m
			s.toUndo = append(s.toUndo, undo...)
			s.wakePurge() // which undoes it
		}
		return err
	}
	s.boundMoved(bound)
	s.toUndo = nil
	s.meta = m
	s.state.Store(next)
	s.noteChanges(old.catalog, c)
	s.followIndexes(old, next)
	for _, id := range dead {
		s.deletions.Forget(id)
	}
	if len(dead) > 0 || len(indexes) > 0 {
		s.wakePurge()
	}
	return nil
}

// commitDefinitions commits and syncs definitions. applied reports whether the engine may have them although it fails.
// freeing is set if a table is dropped.
func (s *definer) commitDefinitions(ops []engine.Op, freeing bool) (applied bool, err error) {
	if err := s.keepDefinitions(ops); err != nil {
		return false, err
	}
	commit := s.commit
	if freeing {
		commit = s.commitFreeing
	}
	err = commit(ops)
	if errors.Is(err, engine.ErrUnknown) {
		err = commit(ops) // the operations are idempotent
		applied = true
	}
	switch {
	case err == nil:
		if err := s.engine.Sync(); err != nil {
			return true, fmt.Errorf("sync the definitions: %w", err)
		}
		return true, s.keepDefinitions(nil)
	case errors.Is(err, engine.ErrTooLarge):
		return applied, cqlerr.Serverf("The definitions are too large to be stored together")
	case isRefused(err):
		return applied, notWritten(err)
	}
	return applied, fmt.Errorf("store the definitions: %w", err)
}

// undoDefinitions removes definitions that failed from the engine. Otherwise they would be in the catalog when the
// store is opened again.
func (s *definer) undoDefinitions() error {
	s.defining.Lock()
	defer s.defining.Unlock()
	if len(s.toUndo) == 0 {
		return nil
	}
	if _, err := s.commitDefinitions(s.toUndo, true); err != nil {
		return err
	}
	s.toUndo = nil
	return nil
}

// assign gives numbers to tables that have none. Only keyspaces that changed have any. A number is never used
// again.
func (m *meta) assign(old, c *schema.Catalog) (*schema.Catalog, error) {
	for _, k := range c.Keyspaces() {
		if schema.IsSystem(k.Name) || old.Keyspace(k.Name) == k {
			continue
		}
		for _, t := range k.UnnumberedTables() {
			if m.next > rows.MaxStoreID {
				return nil, cqlerr.Serverf("Too many tables have been created")
			}
			c = c.WithTable(t.WithStoreID(uint64(m.next)))
			m.next++
		}
	}
	return c, nil
}

// missing returns the numbers that are not in use any more.
func missing(old map[[16]byte]uint32, used map[uint32]bool) []uint32 {
	var dead []uint32
	for _, id := range old {
		if !used[id] {
			dead = append(dead, id)
		}
	}
	return dead
}

// loadIndexes finds the indexes of the catalog among the stored records. An index without a record gets one; the keys
// of a record without an index are purged. If rebuild is set, all indexes get other numbers, so that they are built.
func (s *definer) loadIndexes(first *state, rebuild bool) error {
	indexes, err := index.Read(s.engine)
	if err != nil {
		return err
	}
	if rebuild {
		indexes = map[uint32][]*index.Index{0: slices.Concat(slices.Collect(maps.Values(indexes))...)} // of no table
	}
	stored := &state{catalog: &schema.Catalog{}, indexes: indexes}
	m := s.meta
	ops, _ := first.numberIndexes(stored, &m)
	if len(ops) == 0 {
		return nil
	}
	ops = append(ops, m.op())
	if err := s.keepDefinitions(ops); err != nil {
		return err
	}
	if err := errors.Join(s.commit(ops), s.engine.Sync()); err != nil { // before the copy without what they change
		return err
	}
	s.meta = m
	return nil
}

// replaceIndex replaces an index by a later state of itself, unless it was dropped. It returns the current state.
func (s *definer) replaceIndex(x *index.Index, era uint64) (*index.Index, error) {
	if s.cluster != nil {
		return s.replaceShared(x)
	}
	s.defining.Lock()
	defer s.defining.Unlock()
	if s.restores.Load() != era {
		return nil, errRestored
	}
	old := s.state.Load()
	if !slices.ContainsFunc(old.indexes[x.TableID], func(o *index.Index) bool { return o.ID == x.ID }) {
		return nil, nil
	}
	if err := s.commit([]engine.Op{x.Record()}); err != nil {
		return nil, err
	}
	next := *old
	next.replaceIndex(x)
	s.state.Store(&next)
	return x, nil
}

func (s *definer) loadCatalog(system []*schema.Keyspace) (c *schema.Catalog, err error) {
	records := schema.Records{}
	err = scanRecords(s.engine, definitionKeys, func(name string, value []byte) error {
		records[name] = value
		return nil
	})
	if err == nil {
		c, err = schema.Decode(records, system...)
	}
	if err != nil {
		return nil, fmt.Errorf("load the definitions: %w", err)
	}
	return c, nil
}
