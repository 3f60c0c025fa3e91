package store

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
	"github.com/cqld/cqld/store/snapshot"
)

// The store's own records are keys of table 0.
var (
	definitionKeys = ownKey("definition/")
	deadKey        = ownKey("dead/")
	boundKey       = ownKey("bound") // of the timestamps that were given
)

func ownKey(name string) []byte { return append(rows.AppendArea(nil, 0, rows.AreaRows), name...) }

// meta is the store's first record: its format, its id and the next table's number.
type meta struct {
	host [16]byte
	next uint32 // the next table's number
}

// metaSize is the length of the record: version, host id, next number.
const metaSize = 4 + 16 + 4

var errMeta = errors.New("the data is not cqld's: its first record is damaged")

// load reads the record and reports whether there is one.
func (m *meta) load(r engine.Reader) (found bool, err error) {
	return r.Get(snapshot.MetaKey, func(b []byte) error {
		if len(b) < 4 {
			return errMeta
		}
		switch version := binary.BigEndian.Uint32(b); version {
		case snapshot.Format:
		case snapshot.Incomplete:
			return snapshot.ErrIncomplete
		default:
			return fmt.Errorf("the data was written by another version of cqld: its format is %d, this cqld reads format %d",
				version, snapshot.Format)
		}
		if len(b) != metaSize {
			return errMeta
		}
		copy(m.host[:], b[4:20])
		m.next = binary.BigEndian.Uint32(b[20:])
		return nil
	})
}

func (m *meta) drawHost() error {
	if _, err := rand.Read(m.host[:]); err != nil {
		return fmt.Errorf("draw a host id: %w", err)
	}
	m.host[6] = m.host[6]&0x0f | 0x40 // a random UUID, version 4
	m.host[8] = m.host[8]&0x3f | 0x80
	return nil
}

func (m *meta) op() engine.Op {
	b := binary.BigEndian.AppendUint32(nil, snapshot.Format)
	b = append(b, m.host[:]...)
	return engine.Op{Kind: engine.Put, Key: snapshot.MetaKey, Value: binary.BigEndian.AppendUint32(b, m.next)}
}

// numberIndexes gives the indexes of a new catalog their previous numbers, or new ones. It returns the operations that
// store them, and their inverse.
func (s *state) numberIndexes(old *state, m *meta) (ops, undo []engine.Op) {
	s.indexes = map[uint32][]*index.Index{}
	for _, k := range s.catalog.Keyspaces() {
		same := old.catalog.Keyspace(k.Name) == k
		for _, t := range k.Tables {
			before := old.indexes[uint32(t.StoreID)]
			if same && before != nil {
				s.indexes[uint32(t.StoreID)] = before
			}
			if same || t.StoreID == 0 {
				continue
			}
			all, added := m.number(index.OfTable(k, t), before)
			for _, x := range added {
				ops = append(ops, x.Record())
			}
			if len(all) > 0 {
				s.indexes[uint32(t.StoreID)] = all
			}
		}
	}
	s.noteIndexes()
	for _, op := range ops {
		undo = append(undo, engine.Op{Kind: engine.Delete, Key: op.Key})
	}
	for _, all := range old.indexes {
		for _, x := range all {
			if !s.live[x.ID] {
				dead := deadTableKey(x.ID)
				ops = append(ops, engine.Op{Kind: engine.Put, Key: dead, Value: []byte{1}},
					engine.Op{Kind: engine.Delete, Key: index.IndexKey(x.ID)})
				undo = append(undo, engine.Op{Kind: engine.Delete, Key: dead}, x.Record())
			}
		}
	}
	return ops, undo
}

// number numbers the indexes of a table. It returns all, and the new ones. An index that existed before keeps its
// state.
func (m *meta) number(wanted, before []*index.Index) (all, added []*index.Index) {
	for _, x := range wanted {
		i := slices.IndexFunc(before, func(b *index.Index) bool { return b.Name == x.Name })
		switch {
		case i >= 0:
			x.ID, x.Built, x.Retired = before[i].ID, before[i].Built, before[i].Retired
		case m.next > rows.MaxStoreID:
			continue
		default:
			x.ID = m.next
			m.next++
			added = append(added, x)
		}
		all = append(all, x)
	}
	return all, added
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

// loadIndexes finds the indexes of the catalog among the stored records. An index without a record gets one; the keys
// of a record without an index are purged.
func (s *definer) loadIndexes(first *state) error {
	indexes, err := index.Read(s.engine)
	if err != nil {
		return err
	}
	stored := &state{catalog: &schema.Catalog{}, indexes: indexes}
	m := s.meta
	ops, _ := first.numberIndexes(stored, &m)
	if len(ops) == 0 {
		return nil
	}
	if err := s.commit(append(ops, m.op())); err != nil {
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

// scanRecords calls fn for the records of a kind. name is the rest of the key after the prefix.
func scanRecords(r engine.Reader, prefix []byte, fn func(name string, value []byte) error) error {
	end := rows.Successor(bytes.Clone(prefix))
	return r.Scan(prefix, end, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
		return true, fn(string(key[len(prefix):]), bytes.Clone(value))
	})
}

func recordNumber(name string) (uint32, error) {
	if len(name) != 4 {
		return 0, errMeta
	}
	return binary.BigEndian.Uint32([]byte(name)), nil
}

func recordVersion(value []byte) (uint64, error) {
	if len(value) != 8 {
		return 0, errMeta
	}
	return binary.BigEndian.Uint64(value), nil
}
