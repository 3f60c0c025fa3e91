package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"

	"github.com/cqld/cqld/store/tombstones"

	"github.com/cqld/cqld/store/engine"
)

// Most tables never have tombstones of partitions or ranges, and reads of these should not look for them. So a table is
// marked before the first one is written. The mark is a definition, stored with its version: no node reads the table
// without it when the tombstone is committed.

// markKeys begin the records of tables that may have tombstones of partitions or ranges.
var markKeys = ownKey("tombstones/")

func markKey(id uint32) []byte { return binary.BigEndian.AppendUint32(bytes.Clone(markKeys), id) }

func putMarkOp(id uint32, version uint64) engine.Op {
	return engine.Op{Kind: engine.Put, Key: markKey(id), Value: binary.BigEndian.AppendUint64(nil, version)}
}

func dropMarkOp(id uint32) engine.Op { return engine.Op{Kind: engine.Delete, Key: markKey(id)} }

// errUnmarked says that a table has to be marked before mutations are written.
var errUnmarked = errors.New("the table is not marked")

// isUnmarked reports whether the mutation's table has to be marked before a tombstone is written, or whether some nodes
// may not have followed the mark. settled is the version that all nodes have.
func (m *Mutation) isUnmarked(id uint32, settled uint64) bool {
	version, ok := m.state.marked[id]
	return m.state.marked != nil && (!ok || version > settled)
}

// markedOperations is operations, and marks tables before.
func (s *Store) markedOperations(ops []engine.Op, ms []*Mutation) ([]engine.Op, error) {
	begin := len(ops)
	for {
		all, err := s.operations(ops[:begin], ms)
		if !errors.Is(err, errUnmarked) {
			return all, err
		}
		if err := s.mark(ms); err != nil {
			return all, err
		}
	}
}

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
