package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// newState indexes a catalog.
func newState(c *schema.Catalog) *state {
	s := &state{catalog: c, ids: map[[16]byte]uint32{}, live: map[uint32]bool{}}
	for _, k := range c.Keyspaces() {
		for _, t := range k.Tables {
			if t.StoreID != 0 {
				s.ids[t.ID], s.live[uint32(t.StoreID)] = uint32(t.StoreID), true
			}
		}
	}
	return s
}

// loadCatalog reads the definitions. Until format 3 they were one record, which is replaced by theirs.
func (s *Store) loadCatalog(system []*schema.Keyspace) (c *schema.Catalog, err error) {
	found, err := s.engine.Get(catalogKey, func(b []byte) (err error) {
		c, err = schema.DecodeWhole(b, system...)
		return err
	})
	if found && err == nil {
		return c, s.splitCatalog(c)
	}
	records := schema.Records{}
	if err == nil {
		end := rows.Successor(bytes.Clone(definitionKeys))
		err = s.engine.Scan(definitionKeys, end, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
			records[string(key[len(definitionKeys):])] = bytes.Clone(value)
			return true, nil
		})
	}
	if err == nil {
		c, err = schema.Decode(records, system...)
	}
	if err != nil {
		return nil, fmt.Errorf("load the definitions: %w", err)
	}
	return c, nil
}

// splitCatalog writes definitions as records of their own. The one they were read from counts until all are safe.
func (s *Store) splitCatalog(c *schema.Catalog) error {
	var ops []engine.Op
	size := 0
	for _, op := range definitionOps(schema.Encode(c)) {
		ops, size = append(ops, op), size+len(op.Key)+len(op.Value)
		if size > s.limits.CommitBytes/2 || len(ops) > s.limits.CommitOps/2 {
			if err := s.commit(ops); err != nil {
				return fmt.Errorf("store the definitions: %w", err)
			}
			ops, size = nil, 0
		}
	}
	err := s.commit(ops)
	if err == nil {
		err = s.engine.Sync()
	}
	if err == nil {
		err = s.commit([]engine.Op{{Kind: engine.Delete, Key: catalogKey}})
	}
	if err != nil {
		return fmt.Errorf("store the definitions: %w", err)
	}
	return nil
}

// definitionOps write records of definitions, and remove those that are nil.
func definitionOps(records schema.Records) []engine.Op {
	var ops []engine.Op
	for _, name := range slices.Sorted(maps.Keys(records)) {
		op := engine.Op{Kind: engine.Put, Key: slices.Concat(definitionKeys, []byte(name)), Value: records[name]}
		if op.Value == nil {
			op.Kind = engine.Delete
		}
		ops = append(ops, op)
	}
	return ops
}

// Define replaces the catalog by what change makes of the current one. Definitions run one at a time;
// when Define returns, the next catalog is persisted and visible. It is safe from a power cut before there can be rows
// of its tables, so that a table's number is not given away twice. Change returning the same catalog
// means that nothing changes. Tables of users whose StoreID is 0 get one. What a Define that fails has written to the engine
// is undone.
func (s *Store) Define(change func(*schema.Catalog) (*schema.Catalog, error)) error {
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
	dead := missing(old.ids, next.live)
	ops := slices.Concat(s.unsettled, []engine.Op{m.op()}, definitionOps(schema.Changes(old.catalog, c)))
	undo := definitionOps(schema.Changes(c, old.catalog))
	for _, id := range dead {
		ops = append(ops, engine.Op{Kind: engine.Put, Key: deadTableKey(id), Value: []byte{1}},
			engine.Op{Kind: engine.Delete, Key: sweepKey(id)})
		undo = append(undo, engine.Op{Kind: engine.Delete, Key: deadTableKey(id)})
	}
	if applied, err := s.commitDefinitions(ops); err != nil {
		if applied {
			s.meta = m
			s.unsettled = append(s.unsettled, undo...)
			s.wakePurge() // which undoes it
		}
		return err
	}
	s.unsettled = nil
	s.meta = m
	s.state.Store(next)
	s.noteChanges(old.catalog, c)
	for _, id := range dead {
		s.deletions.drop(id)
	}
	if len(dead) > 0 {
		s.wakePurge()
	}
	return nil
}

// commitDefinitions commits definitions and syncs them. Where that fails they may be applied all the same.
func (s *Store) commitDefinitions(ops []engine.Op) (applied bool, err error) {
	err = s.commit(ops)
	if errors.Is(err, engine.ErrUnknown) {
		err = s.commit(ops) // what these write can be written twice
		applied = true
	}
	switch {
	case err == nil:
		if err := s.engine.Sync(); err != nil {
			return true, fmt.Errorf("sync the definitions: %w", err)
		}
		return true, nil
	case errors.Is(err, engine.ErrTooLarge):
		return applied, cqlerr.Serverf("The definitions are too large to be stored together")
	case isRefused(err):
		return applied, notWritten(err)
	}
	return applied, fmt.Errorf("store the definitions: %w", err)
}

// settle takes definitions that failed out of the engine, where they may have been applied. Otherwise they would be in the
// catalog when the store is opened again.
func (s *Store) settle() error {
	s.defining.Lock()
	defer s.defining.Unlock()
	if len(s.unsettled) == 0 {
		return nil
	}
	if _, err := s.commitDefinitions(s.unsettled); err != nil {
		return err
	}
	s.unsettled = nil
	return nil
}

// assign gives numbers to the tables that have none, which are in keyspaces that were replaced. A number is never used
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

// missing returns the numbers that were in use and are not any more.
func missing(old map[[16]byte]uint32, used map[uint32]bool) []uint32 {
	var dead []uint32
	for _, id := range old {
		if !used[id] {
			dead = append(dead, id)
		}
	}
	return dead
}
