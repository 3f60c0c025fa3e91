package store

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
)

// state is the set of definitions that reads and writes use. It is replaced as a whole.
type state struct {
	catalog *schema.Catalog
	ids     map[[16]byte]uint32 // StoreIDs by table ID: a statement may hold a table as it was before TRUNCATE. Views too
	live    map[uint32]bool     // the StoreIDs
	virtual map[[16]byte]virtualTable
	indexes map[uint32][]*index.Index // of the tables, by their StoreIDs. Views too

	anyViews bool // there are views among the indexes

	// Where nodes share the engine:
	version   uint64              // of the definitions
	suspended map[[16]byte]uint64 // the version since which a table, by its ID, is being truncated and not used
	marked    map[uint32]uint64   // the version since which a table, by its number, may have tombstones of many rows
	records   schema.Records      // that the catalog was made of
	writing   *atomic.Int64       // mutations that have begun under this state and are not answered

	restoring chan struct{} // is closed when Restore is over, which replaces this state; nil: no Restore is under way
}

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

// hasViews reports whether a table has views.
func (s *state) hasViews(t *schema.Table) bool { return s.anyViews && hasViews(s.indexes[s.ids[t.ID]]) }

// viewOf returns the index.Index of a view, or nil.
func (s *state) viewOf(view *schema.Table) *index.Index {
	for _, x := range s.indexes[s.ids[view.View.BaseID]] {
		if x.View != nil && x.View.ID == view.ID {
			return x
		}
	}
	return nil
}

// hasViews reports whether there is a view among indexes.
func hasViews(indexes []*index.Index) bool {
	return slices.ContainsFunc(indexes, func(x *index.Index) bool { return x.View != nil })
}

// viewsAmong returns the views among indexes.
func viewsAmong(indexes []*index.Index) []*index.Index {
	if !hasViews(indexes) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(indexes), func(x *index.Index) bool { return x.View == nil })
}

// sameIndexes reports whether two lists of indexes have the same numbers: writes add the same entries.
func sameIndexes(a, b []*index.Index) bool {
	return slices.EqualFunc(a, b, func(a, b *index.Index) bool { return a.ID == b.ID })
}

// numberOf is the number that a key begins with.
func numberOf(key []byte) uint32 { return binary.BigEndian.Uint32(key) >> 1 }

// virtualTable is a table that exists only as code.
type virtualTable interface {
	read(Session, *schema.Catalog) (engine.Reader, error)
	receiver() VirtualWriter // nil: it takes no writes
}

// VirtualWriter receives writes to a table that exists only as code. Errors of package cqlerr reach the client.
type VirtualWriter interface {
	// Write applies a write to a row in the partition of a key: the values of columns, including the clustering
	// columns, nil where the statement deletes the value. They may be kept.
	Write(key []byte, values map[string][]byte) error

	// Delete deletes the row of a partition key.
	Delete(key []byte) error

	// Truncate deletes all rows.
	Truncate() error
}

// Session is the part of a client's session on which rows made by code may depend.
type Session struct {
	LocalAddr netip.AddrPort // the address the client dialled
	Node      int            // the number of the node that it is with
}

// noTable is the error for a table that was dropped after the statement was planned.
func noTable(t *schema.Table) error { return cqlerr.Invalidf("table %s does not exist", t.Name) }

// replaceIndex replaces an index by a later state of itself. It reports whether it exists.
func (s *state) replaceIndex(x *index.Index) bool {
	i := slices.IndexFunc(s.indexes[x.TableID], func(o *index.Index) bool { return o.ID == x.ID })
	if i < 0 {
		return false
	}
	next := make(map[uint32][]*index.Index, len(s.indexes))
	for id, all := range s.indexes {
		next[id] = all
	}
	next[x.TableID] = slices.Clone(s.indexes[x.TableID])
	next[x.TableID][i] = x
	s.indexes = next
	return true
}

func (s *state) noteIndexes() {
	for _, all := range s.indexes {
		for _, x := range all {
			s.live[x.ID] = true
			if x.View != nil {
				s.ids[x.View.ID], s.anyViews = x.ID, true
			}
		}
	}
}
