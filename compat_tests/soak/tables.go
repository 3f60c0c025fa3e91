package main

import (
	"fmt"
	"slices"
	"strings"
)

// All tables have partition key p and clustering key c. A row's cells are numbered: first its columns, then the
// elements of a map m.
const (
	columnN = iota // the number, which the view groups by and conditions compare
	columnW        // the word
	columnV        // the blob
	firstElement
	mapKeys  = 4
	maxCells = firstElement + mapKeys
)

// column is a regular column.
type column struct {
	name string
	kind kind
}

// elementKind is the type of the map's values.
const elementKind = blob

// stamping is the source of the timestamps of a table's writes.
type stamping int

const (
	serverStamps    stamping = iota
	clientStamps             // USING TIMESTAMP, in order
	scatteredStamps          // USING TIMESTAMP, some of them older than earlier ones
)

// table is a table that the load writes to.
type table struct {
	name       string
	columns    []column
	hasMap     bool
	properties string
	extras     []string // its indexes and views
	lookups    []lookup
	view       string // its view; empty: it has none
	stamping   stamping
	operations []operation
	ttls       bool
	maxBlob    int
}

// lookup is an index or a view that finds a table's rows by one column.
type lookup struct {
	from   string // the table or its view
	column int
}

var dataColumns = []column{{"n", integer}, {"w", word}, {"v", blob}}

// The longest values. A write to a table with a view and its changes in the view are one commit, of 16 MiB at most.
const (
	longestBlob       = 12 << 20
	longestViewedBlob = 6 << 20
)

// purgeable lets deleted cells be purged at once. It requires timestamps in order: an older write that comes after the
// purge would be visible.
const purgeable = " WITH gc_grace_seconds = 0"

var tables = []*table{
	{
		name: "scattered", columns: dataColumns, stamping: scatteredStamps, ttls: true, maxBlob: longestBlob, operations: dataOperations,
	},
	{
		name: "purged", columns: dataColumns, stamping: serverStamps, ttls: true, maxBlob: longestBlob, operations: dataOperations,
		properties: purgeable,
	},
	{
		name: "mapped", columns: dataColumns, hasMap: true, stamping: scatteredStamps, ttls: true, maxBlob: longestBlob,
		operations: slices.Concat(mapOperations, dataOperations),
	},
	{
		name: "indexed", columns: dataColumns, stamping: clientStamps, ttls: true, maxBlob: longestBlob, operations: dataOperations,
		properties: purgeable,
		extras: []string{
			"CREATE INDEX ON soak.indexed (w)",
			"CREATE CUSTOM INDEX ON soak.indexed (n) USING 'StorageAttachedIndex'",
		},
		lookups: []lookup{{"indexed", columnW}, {"indexed", columnN}},
	},
	{
		name: "viewed", columns: dataColumns, stamping: scatteredStamps, ttls: true, maxBlob: longestViewedBlob, operations: dataOperations,
		extras: []string{"CREATE MATERIALIZED VIEW soak.viewed_by_n AS SELECT p, c, n, w, v FROM soak.viewed " +
			"WHERE n IS NOT NULL AND p IS NOT NULL AND c IS NOT NULL PRIMARY KEY (n, p, c)"},
		lookups: []lookup{{"viewed_by_n", columnN}},
		view:    "viewed_by_n",
	},
	{
		name: "conditional", columns: dataColumns, stamping: serverStamps, maxBlob: longestBlob, operations: conditionalOperations,
	},
	{
		name: "counters", columns: []column{{"n", counter}, {"k", counter}}, stamping: serverStamps, operations: counterOperations,
	},
}

// definitions are the statements that define the table, its indexes and views.
func (t *table) definitions() []string {
	columns := "p bigint, c int"
	for _, c := range t.columns {
		columns += ", " + c.name + " " + [...]string{integer: "int", word: "text", blob: "blob", counter: "counter"}[c.kind]
	}
	if t.hasMap {
		columns += ", m map<int, blob>"
	}
	create := fmt.Sprintf("CREATE TABLE soak.%s (%s, PRIMARY KEY (p, c))%s", t.name, columns, t.properties)
	return append([]string{create}, t.extras...)
}

// selection is the beginning of a SELECT of all compared columns, from the table or its view.
func (t *table) selection(from string) string {
	names := []string{"p", "c"}
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	if t.hasMap {
		names = append(names, "m")
	}
	return "SELECT " + strings.Join(names, ", ") + " FROM soak." + from
}

// cellName is the name of a cell in CQL.
func (t *table) cellName(i int) string {
	if i >= firstElement {
		return fmt.Sprintf("m[%d]", i-firstElement)
	}
	return t.columns[i].name
}

func (t *table) cellKind(i int) kind {
	if i >= firstElement {
		return elementKind
	}
	return t.columns[i].kind
}

// cellCount is how many cells a row of the table has.
func (t *table) cellCount() int {
	if t.hasMap {
		return maxCells
	}
	return len(t.columns)
}
