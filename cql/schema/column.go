package schema

import "github.com/cqld/cqld/cql/types"

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
	ID       uint32 // what stored cells call the column: never used twice in a table
}

// ColumnNames are the names of columns.
func ColumnNames(columns []*Column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}
