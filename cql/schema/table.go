package schema

import (
	"crypto/md5"
	"slices"
	"strings"
)

// Table is a table's definition. It never changes; DDL makes another.
type Table struct {
	Keyspace string
	Name     string
	ID       [16]byte  // as clients see it; Cassandra's are random for user tables
	StoreID  uint64    // what keys in the store call the table: 0 until the store assigns it
	Columns  []*Column // in the order of SELECT *: partition key, clustering, static by name, regular by name
	Options  TableOptions
	Virtual  bool   // one of Cassandra's virtual tables: DESCRIBE and the rules for reads and writes differ
	Writable bool   // of a virtual table: statements may write to it
	Settable string // of a table whose rows the server writes: the one column that UPDATE may set
	Counter  bool   // its columns outside the primary key are, or were, counters
	NextID   uint32 // the ID of the next column that is added
	Indexes  []*Index
	View     *View            // of a materialized view: what it is made of
	Compact  Compact          // whether it has COMPACT STORAGE
	Dropped  []*DroppedColumn // in the order of DESCRIBE WITH INTERNALS

	// What follows is derived from Columns by NewTable.
	PartitionKey []*Column
	Clustering   []*Column
	Static       []*Column
	Regular      []*Column
	byName       map[string]*Column
	lost         map[uint32]int64 // see Lost
	digest       digest
}

// TakenByCode reports whether what statements write to the table is handed over to the code that makes its rows.
func (t *Table) TakenByCode() bool { return t.Virtual || t.Settable != "" }

// FirstUserStoreID is the first number that the store may give to a table. Those below belong to the tables
// that come with the server.
const FirstUserStoreID = 1000

// NewTable makes a table of what spec says: names, ID, StoreID, Options, Virtual, Writable, Settable, NextID, Indexes,
// View, Compact, Dropped, and for each of Columns its Name, Type, Kind and Desc. Key columns stand in Columns in the
// order of the PRIMARY KEY; others anywhere. Columns with an ID keep it, the others get the next ones.
func NewTable(spec Table) *Table {
	t := spec
	t.PartitionKey, t.Clustering, t.Static, t.Regular = nil, nil, nil, nil
	byKind := [...]*[]*Column{&t.PartitionKey, &t.Clustering, &t.Static, &t.Regular}
	t.NextID = max(t.NextID, 1)
	for _, given := range spec.Columns {
		t.NextID = max(t.NextID, given.ID+1)
	}
	t.Dropped = droppedOrder(spec.Dropped, len(spec.Dropped))
	for _, given := range spec.Columns {
		c := *given
		if c.ID == 0 {
			c.ID = t.NextID
			t.NextID++
		}
		part := byKind[c.Kind]
		*part = append(*part, &c)
	}
	sortByName(t.Static)
	sortByName(t.Regular)

	t.Columns = make([]*Column, 0, len(spec.Columns))
	t.byName = make(map[string]*Column, len(spec.Columns))
	for _, part := range byKind {
		for i, c := range *part {
			c.Position, c.Index = i, len(t.Columns)
			t.Columns = append(t.Columns, c)
			t.byName[c.Name] = c
		}
	}
	t.lost = t.lostCells()
	t.Counter = slices.ContainsFunc(t.Columns, (*Column).isCounter) ||
		slices.ContainsFunc(t.Dropped, func(d *DroppedColumn) bool { return d.isCounter() })
	t.digest = t.contentDigest()
	return &t
}

// SameAs reports whether two definitions of a user's table are equal, but for what only the store looks at.
func (t *Table) SameAs(o *Table) bool { return t.digest == o.digest }

// WithStoreID returns the table under another number of the store's.
func (t *Table) WithStoreID(id uint64) *Table {
	n := *t
	n.StoreID = id
	return &n
}

// Column returns the column of that name, or nil.
func (t *Table) Column(name string) *Column { return t.byName[name] }

// contentDigest leaves out what only the store looks at.
func (t *Table) contentDigest() digest {
	if IsSystem(t.Keyspace) {
		return digest{}
	}
	n := *t
	n.StoreID = 0
	e := encoder{}
	e.string(t.Keyspace)
	e.table(&n)
	return digest(md5.Sum(e.b))
}

// sortByName sorts as Cassandra does: names whose first letter is not ASCII come first.
func sortByName(columns []*Column) {
	slices.SortFunc(columns, func(a, b *Column) int {
		if ascii := startsASCII(a.Name); ascii != startsASCII(b.Name) {
			if ascii {
				return 1
			}
			return -1
		}
		return strings.Compare(a.Name, b.Name)
	})
}

func startsASCII(name string) bool { return name == "" || name[0] < 0x80 }
