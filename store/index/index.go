package index

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
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

// Index is an index whose entries are kept, or a view.
type Index struct {
	ID      uint32 // the number of its keys
	TableID uint32 // the number of its table's keys
	Name    string // identifies the definition: another index with the same CQL name differs in it
	Built   bool   // it has the entries of all rows
	Retired uint64 // version of definitions that said it would be removed, where nodes share the engine; 0: none

	Table  *schema.Table
	Column *schema.Column // of a view: the one of its key that is not in the key of the table, or nil
	part   schema.IndexPart
	Value  types.Type    // of the indexed values
	key    types.Type    // of the keys of entries of maps; else nil
	Terms  termMaker     // makes terms of a value; its zero value: the value is its only term
	View   *schema.Table // nil: it is no view

	Places  []int             // of a view: the indexes in the table of the columns of its key
	Columns map[uint32]uint32 // of a view: the IDs of its columns that have values, by those in the table

	dim     int             // of an index of vectors: their dimension; else 0
	measure nearest.Measure // of vectors
}

// New returns the Index of a definition without its number, or nil if the store keeps none for it.
func New(t *schema.Table, x *schema.Index) *Index {
	c := t.Column(x.Column())
	if c == nil {
		return nil
	}
	k := &Index{TableID: uint32(t.StoreID), Table: t, Column: c, part: x.Part()}
	k.Value, k.key = schema.IndexedType(c, k.part)
	if x.Kind() == schema.SASI && c.Kind == schema.PartitionKey || !k.setVector(x) && !k.setTerms(x) {
		return nil
	}
	name := []string{x.Name, strconv.Itoa(int(c.ID)), c.Type.String(), k.part.String(), x.Class}
	for _, option := range slices.Sorted(maps.Keys(x.Options)) {
		name = append(name, option, x.Options[option])
	}
	k.Name = strings.Join(name, "\x00")
	return k
}

// IndexName is the name of an index, which is no view.
func (x *Index) IndexName() string {
	name, _, _ := strings.Cut(x.Name, "\x00")
	return name
}

// TableName is the name of the index's table.
func (x *Index) TableName() string { return x.Table.Keyspace + "." + x.Table.Name }

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

// recordKeys begin the records of indexes and views.
var recordKeys = append(rows.AppendArea(nil, 0, rows.AreaRows), "index/"...)

var errRecord = errors.New("the record of an index is damaged")

// IndexKey is the key of the record of an index.
func IndexKey(id uint32) []byte { return binary.BigEndian.AppendUint32(slices.Clone(recordKeys), id) }

// The first byte of a record of an index. A record of a retired index has the version after the table's number.
const (
	indexUnbuilt = 0
	indexBuilt   = 1
	indexRetired = 3
)

// Record stores the state of the index, the table's number and the name.
func (x *Index) Record() engine.Op {
	value := []byte{indexUnbuilt}
	switch {
	case x.Built:
		value[0] = indexBuilt
	case x.Retired != 0:
		value[0] = indexRetired
	}
	value = binary.BigEndian.AppendUint32(value, x.TableID)
	if x.Retired != 0 {
		value = binary.BigEndian.AppendUint64(value, x.Retired)
	}
	return engine.Op{Kind: engine.Put, Key: IndexKey(x.ID), Value: append(value, x.Name...)}
}

// OfTable returns the indexes and views of a table, without numbers.
func OfTable(k *schema.Keyspace, t *schema.Table) (all []*Index) {
	for _, x := range t.Indexes {
		if kept := New(t, x); kept != nil {
			all = append(all, kept)
		}
	}
	for _, v := range k.ViewsOf(t) {
		all = append(all, NewView(t, v))
	}
	return all
}

// Read reads the records of all indexes, by the numbers of their tables.
func Read(r engine.Reader) (map[uint32][]*Index, error) {
	all := map[uint32][]*Index{}
	end := rows.Successor(slices.Clone(recordKeys))
	err := r.Scan(recordKeys, end, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
		if len(key) != len(recordKeys)+4 || len(value) < 5 {
			return false, errRecord
		}
		x := &Index{
			ID: binary.BigEndian.Uint32(key[len(recordKeys):]), Built: value[0] == indexBuilt,
			TableID: binary.BigEndian.Uint32(value[1:]),
		}
		rest := value[5:]
		if value[0] == indexRetired {
			if len(rest) < 8 {
				return false, errRecord
			}
			x.Retired, rest = binary.BigEndian.Uint64(rest), rest[8:]
		}
		x.Name = string(rest)
		all[x.TableID] = append(all[x.TableID], x)
		return true, nil
	})
	return all, err
}

// Label names an index or a view for people.
func (x *Index) Label() string {
	if x.View != nil {
		return "view " + x.View.Name
	}
	return "index " + x.IndexName()
}

// NewView returns the Index of a view of a table, without its number.
func NewView(t, view *schema.Table) *Index {
	k := &Index{TableID: uint32(t.StoreID), Table: t, View: view, Columns: map[uint32]uint32{}}
	name := []string{"", "rows", hex.EncodeToString(view.ID[:])}
	for _, c := range slices.Concat(view.PartitionKey, view.Clustering) {
		base := t.Column(c.Name)
		if !base.Kind.IsKey() {
			k.Column = base
		}
		k.Places = append(k.Places, base.Index)
		name = append(name, strconv.Itoa(int(base.ID)), types.ExactClassName(c.Type), strconv.FormatBool(c.Desc))
	}
	for _, c := range view.Regular {
		k.Columns[t.Column(c.Name).ID] = c.ID
	}
	k.Name = strings.Join(name, "\x00")
	return k
}

// BaseOf appends the key of the row of the base that a row of the view is of, given the values of the view's columns.
// It also returns the partition of that row.
func (x *Index) BaseOf(dst []byte, values [][]byte) (partition, key []byte) {
	named := func(columns []*schema.Column) (named [][]byte) {
		for _, c := range columns {
			named = append(named, values[x.View.Column(c.Name).Index])
		}
		return named
	}
	t := x.Table
	partition = JoinKey(nil, named(t.PartitionKey))
	dst = append(rows.AppendPartition(dst, t, x.TableID, partition), rows.KindRow)
	return partition, rows.AppendClustering(dst, t, named(t.Clustering))
}

// JoinKey appends a serialized partition key, given the values of its columns.
func JoinKey(dst []byte, values [][]byte) []byte {
	if len(values) == 1 {
		return append(dst, values[0]...)
	}
	for _, v := range values {
		dst = types.AppendCompositeKey(dst, v)
	}
	return dst
}
