package store

import (
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/nearest"
	"github.com/cqld/cqld/store/rows"
)

// An index is kept as keys beside the rows. An entry has the number of the index, the indexed value and the key of the
// row, so the entries of one value are in the order of the rows. A write adds entries and removes none: an entry may be
// of a value that the row has no more. So a read that uses an index still compares the rows, and has entries that it
// finds stale removed. Writes read nothing for it.
//
// The entries of rows that are older than the index are made in the background (see index_build.go). Until then reads
// do without the index. Materialized views are numbered and built like indexes (see view.go).

// keptIndex is an index whose entries are kept, or a view.
type keptIndex struct {
	id      uint32 // the number of its keys
	tableID uint32 // the number of its table's keys
	name    string // says what is indexed: another index of the same name differs in it
	built   bool   // it has the entries of all rows
	retired uint64 // version of definitions that said it would be removed, where nodes share the engine; 0: none

	table  *schema.Table
	column *schema.Column // of a view: the one of its key that is not in the key of the table, or nil
	part   schema.IndexPart
	value  types.Type    // of what is indexed
	key    types.Type    // of the keys of entries of maps; else nil
	terms  termMaker     // makes what is indexed of a value; its zero value: that is the value
	view   *schema.Table // nil: it is no view

	places  []int             // of a view: the indexes in the table of the columns of its key
	columns map[uint32]uint32 // of a view: the IDs of its columns that have values, by those in the table

	dim     int             // of an index of vectors: their dimension; else 0
	measure nearest.Measure // of vectors
}

// newKeptIndex returns what is kept for an index, or nil if nothing is.
func newKeptIndex(t *schema.Table, x *schema.Index) *keptIndex {
	c := t.Column(x.Column())
	if c == nil {
		return nil
	}
	k := &keptIndex{tableID: uint32(t.StoreID), table: t, column: c, part: x.Part()}
	k.value, k.key = schema.IndexedType(c, k.part)
	if x.Kind() == schema.SASI && c.Kind == schema.PartitionKey || !k.setVector(x) && !k.setTerms(x) {
		return nil
	}
	name := []string{x.Name, strconv.Itoa(int(c.ID)), c.Type.String(), k.part.String(), x.Class}
	for _, option := range slices.Sorted(maps.Keys(x.Options)) {
		name = append(name, option, x.Options[option])
	}
	k.name = strings.Join(name, "\x00")
	return k
}

// indexName is the name of an index, which is no view.
func (x *keptIndex) indexName() string {
	name, _, _ := strings.Cut(x.name, "\x00")
	return name
}

// tableName is the name of the index's table.
func (x *keptIndex) tableName() string { return x.table.Keyspace + "." + x.table.Name }

// comparesByKey reports whether values that are equal for an index have equal keys, for ever. The fields of user types
// grow, and vectors have indexes of another kind.
func comparesByKey(t types.Type) bool {
	switch t := t.(type) {
	case *types.List:
		return comparesByKey(t.Elem)
	case *types.Set:
		return comparesByKey(t.Elem)
	case *types.Map:
		return comparesByKey(t.Key) && comparesByKey(t.Value)
	case *types.Tuple, *types.UserType, *types.Vector, *types.Custom:
		return false
	}
	return true
}

// indexKey is the key of the record of an index that is kept.
func indexKey(id uint32) []byte { return binary.BigEndian.AppendUint32(slices.Clone(indexKeys), id) }

// What a record of an index begins with. A record of a retired index has the version behind the table's number.
const (
	indexUnbuilt = 0
	indexBuilt   = 1
	indexRetired = 3
)

// record is what is stored of the index: how far it is, the table's number and the name.
func (x *keptIndex) record() engine.Op {
	value := []byte{indexUnbuilt}
	switch {
	case x.built:
		value[0] = indexBuilt
	case x.retired != 0:
		value[0] = indexRetired
	}
	value = binary.BigEndian.AppendUint32(value, x.tableID)
	if x.retired != 0 {
		value = binary.BigEndian.AppendUint64(value, x.retired)
	}
	return engine.Op{Kind: engine.Put, Key: indexKey(x.id), Value: append(value, x.name...)}
}

// numberIndexes gives the indexes of a catalog that is about to replace another the numbers that they have, or new
// ones. It returns the operations that store that, and those that undo it.
func (s *state) numberIndexes(old *state, m *meta) (ops, undo []engine.Op) {
	s.indexes = map[uint32][]*keptIndex{}
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
			all, added := m.number(keptIndexes(k, t), before)
			for _, x := range added {
				ops = append(ops, x.record())
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
			if !s.live[x.id] {
				dead := deadTableKey(x.id)
				ops = append(ops, engine.Op{Kind: engine.Put, Key: dead, Value: []byte{1}},
					engine.Op{Kind: engine.Delete, Key: indexKey(x.id)})
				undo = append(undo, engine.Op{Kind: engine.Delete, Key: dead}, x.record())
			}
		}
	}
	return ops, undo
}

// keptIndexes returns what is kept for a table, without numbers.
func keptIndexes(k *schema.Keyspace, t *schema.Table) (all []*keptIndex) {
	for _, x := range t.Indexes {
		if kept := newKeptIndex(t, x); kept != nil {
			all = append(all, kept)
		}
	}
	for _, v := range k.ViewsOf(t) {
		all = append(all, newKeptView(t, v))
	}
	return all
}

// number gives numbers to the indexes of a table, and returns them and those that are new. An index that was there
// before stays what it was.
func (m *meta) number(wanted, before []*keptIndex) (all, added []*keptIndex) {
	for _, x := range wanted {
		i := slices.IndexFunc(before, func(b *keptIndex) bool { return b.name == x.name })
		switch {
		case i >= 0:
			x.id, x.built, x.retired = before[i].id, before[i].built, before[i].retired
		case m.next > rows.MaxStoreID:
			continue
		default:
			x.id = m.next
			m.next++
			added = append(added, x)
		}
		all = append(all, x)
	}
	return all, added
}

// noteIndexes notes the numbers of indexes and views.
func (s *state) noteIndexes() {
	for _, all := range s.indexes {
		for _, x := range all {
			s.live[x.id] = true
			if x.view != nil {
				s.ids[x.view.ID], s.anyViews = x.id, true
			}
		}
	}
}

// loadIndexes finds the indexes of the catalog among the records of a store that is being opened. Indexes without a
// record get one, and records without an index are of indexes whose keys are to be removed.
func (s *Store) loadIndexes(first *state) error {
	indexes, err := readIndexes(s.engine)
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

// readIndexes reads the records of all indexes, by the numbers of their tables.
func readIndexes(r engine.Reader) (map[uint32][]*keptIndex, error) {
	all := map[uint32][]*keptIndex{}
	err := scanRecords(r, indexKeys, func(name string, value []byte) error {
		id, err := recordNumber(name)
		if err != nil || len(value) < 5 {
			return errMeta
		}
		x := &keptIndex{id: id, built: value[0] == indexBuilt, tableID: binary.BigEndian.Uint32(value[1:])}
		rest := value[5:]
		if value[0] == indexRetired {
			if len(rest) < 8 {
				return errMeta
			}
			x.retired, rest = binary.BigEndian.Uint64(rest), rest[8:]
		}
		x.name = string(rest)
		all[x.tableID] = append(all[x.tableID], x)
		return nil
	})
	return all, err
}

// replaceIndex puts an index in the place of what it was, unless the index is gone. It returns the index as it is.
func (s *Store) replaceIndex(x *keptIndex, era uint64) (*keptIndex, error) {
	if s.cluster != nil {
		return s.replaceShared(x)
	}
	s.defining.Lock()
	defer s.defining.Unlock()
	if s.restores.Load() != era {
		return nil, errRestored
	}
	old := s.state.Load()
	if !slices.ContainsFunc(old.indexes[x.tableID], func(o *keptIndex) bool { return o.id == x.id }) {
		return nil, nil
	}
	if err := s.commit([]engine.Op{x.record()}); err != nil {
		return nil, err
	}
	next := *old
	next.replaceIndex(x)
	s.state.Store(&next)
	return x, nil
}
