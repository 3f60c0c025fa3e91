package store

import (
	"errors"
	"fmt"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
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

func loadCatalog(r engine.Reader, system []*schema.Keyspace) (*schema.Catalog, error) {
	var c *schema.Catalog
	found, err := r.Get(catalogKey, func(b []byte) (err error) {
		c, err = schema.Decode(b, system...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the definitions: %w", err)
	}
	if !found {
		c = schema.New(system...)
	}
	return c, nil
}

// Define replaces the catalog by what change makes of the current one. Definitions run one at a time;
// when Define returns, the next catalog is persisted and visible. It is safe from a power cut before there can be rows
// of its tables, so that a table's number is not given away twice. Change returning the same catalog
// means that nothing changes. Tables of users whose StoreID is 0 get one.
func (s *Store) Define(change func(*schema.Catalog) (*schema.Catalog, error)) error {
	s.defining.Lock()
	defer s.defining.Unlock()
	old := s.state.Load()
	c, err := change(old.catalog)
	if err != nil || c == old.catalog {
		return err
	}
	m := s.meta
	if c, err = m.assign(c); err != nil {
		return err
	}
	next := newState(c)
	next.virtual = old.virtual
	dead := missing(old.ids, next.live)
	ops := []engine.Op{m.op(), {Kind: engine.Put, Key: catalogKey, Value: schema.Encode(c)}}
	for _, id := range dead {
		ops = append(ops, engine.Op{Kind: engine.Put, Key: deadTableKey(id), Value: []byte{1}},
			engine.Op{Kind: engine.Delete, Key: sweepKey(id)})
	}
	err = s.commit(ops)
	if errors.Is(err, engine.ErrUnknown) {
		err = s.commit(ops) // what these write can be written twice
	}
	if err != nil {
		switch {
		case errors.Is(err, engine.ErrTooLarge):
			return cqlerr.Serverf("The definitions are too large to be stored together")
		case errors.Is(err, engine.ErrFull):
			return noRoom(err)
		}
		return fmt.Errorf("store the definitions: %w", err)
	}
	if err := s.engine.Sync(); err != nil {
		return fmt.Errorf("sync the definitions: %w", err)
	}
	s.meta = m
	s.state.Store(next)
	for _, id := range dead {
		s.deletions.drop(id)
		s.usages.drop(id)
	}
	if len(dead) > 0 {
		s.lookForDead()
	}
	return nil
}

// assign gives numbers to the tables that have none. A number is never used again.
func (m *meta) assign(c *schema.Catalog) (*schema.Catalog, error) {
	for _, k := range c.Keyspaces() {
		if schema.IsSystem(k.Name) {
			continue
		}
		for _, t := range k.SortedTables() {
			if t.StoreID != 0 {
				continue
			}
			if m.next > maxStoreID {
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
