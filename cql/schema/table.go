package schema

import (
	"crypto/md5"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/types"
)

// Table is a table's definition. It never changes; DDL makes another.
type Table struct {
	Keyspace string
	Name     string
	ID       [16]byte  // as clients see it; Cassandra's are random for user tables
	StoreID  uint64    // the id of the table in keys of the store: 0 until the store assigns it
	Columns  []*Column // in the order of SELECT *: partition key, clustering, static by name, regular by name
	Options  TableOptions
	Virtual  bool   // one of Cassandra's virtual tables: DESCRIBE and the rules for reads and writes differ
	Writable bool   // of a virtual table: statements may write to it
	Settable string // of a table whose rows the server writes: the one column that UPDATE may set
	Counter  bool   // its columns outside the primary key are, or were, counters
	NextID   uint32 // the ID of the next column that is added
	Indexes  []*Index
	View     *View            // of a materialized view: how it is made
	Compact  Compact          // whether it has COMPACT STORAGE
	Dropped  []*DroppedColumn // in the order of DESCRIBE WITH INTERNALS

	// The fields below are derived from Columns by NewTable.
	PartitionKey []*Column
	Clustering   []*Column
	Static       []*Column
	Regular      []*Column
	byName       map[string]*Column
	lost         map[uint32]int64 // see Lost
	digest       digest
}

// TakenByCode reports whether writes to the table are passed to the code that makes its rows.
func (t *Table) TakenByCode() bool { return t.Virtual || t.Settable != "" }

// FirstUserStoreID is the first number that the store may give to a table. Those below belong to the tables
// that come with the server.
const FirstUserStoreID = 1000

// NewTable makes a table of these fields of spec: names, ID, StoreID, Options, Virtual, Writable, Settable, NextID,
// Indexes, View, Compact, Dropped, and for each of Columns its Name, Type, Kind and Desc. Key columns are in Columns
// in the order of the PRIMARY KEY; others anywhere. Columns with an ID keep it, the others get the next ones.
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

// withColumns returns the table with a changed copy of each column, for NewTable.
func (t *Table) withColumns(change func(*Column)) Table {
	spec := *t
	spec.Columns = make([]*Column, len(t.Columns))
	for i, given := range t.Columns {
		c := *given
		change(&c)
		spec.Columns[i] = &c
	}
	return spec
}

// SameAs reports whether two definitions of a user's table are equal, except for the fields that only the store uses.
func (t *Table) SameAs(o *Table) bool { return t.digest == o.digest }

// WithStoreID returns the table under another number of the store's.
func (t *Table) WithStoreID(id uint64) *Table {
	n := *t
	n.StoreID = id
	return &n
}

// Column returns the column of that name, or nil.
func (t *Table) Column(name string) *Column { return t.byName[name] }

// contentDigest leaves out the fields that only the store uses.
func (t *Table) contentDigest() digest {
	if IsSystem(t.Keyspace) {
		return digest{}
	}
	n := new(*t)
	n.StoreID = 0
	e := coder{}
	e.string(t.Keyspace)
	e.table(&n, t.Keyspace)
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

// ColumnKind is the part a column plays in its table.
type ColumnKind uint8

// The kinds in the order SELECT * shows them.
const (
	PartitionKey ColumnKind = iota
	Clustering
	Static
	Regular
)

// String is the kind as system_schema.columns shows it.
func (k ColumnKind) String() string {
	return [...]string{"partition_key", "clustering", "static", "regular"}[k]
}

// IsKey reports whether columns of the kind belong to the primary key.
func (k ColumnKind) IsKey() bool { return k == PartitionKey || k == Clustering }

func (c *Column) isCounter() bool { return c.Type == types.Counter }

// Column is one column of a table.
type Column struct {
	Name     string
	Type     types.Type
	Kind     ColumnKind
	Mask     *Mask  // nil: none
	Desc     bool   // of a clustering column: declared DESC
	Position int    // within its kind; system_schema shows -1 for static and regular ones
	Index    int    // in Table.Columns
	ID       uint32 // the id of the column in stored cells: never used twice in a table
}

// ColumnNames are the names of columns.
func ColumnNames(columns []*Column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}
