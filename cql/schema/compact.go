package schema

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cqld/cqld/cql/types"
)

// Compact is how a table WITH COMPACT STORAGE keeps its rows. They have no markers: a row is there while a column of
// it has a value.
type Compact uint8

// The kinds of tables. The columns of one without clustering columns are static, beside a clustering column and a
// regular one that are hidden; any other has one regular column, which is hidden too if it was not declared.
const (
	NotCompact Compact = iota
	CompactStatic
	CompactDense
)

// compact codes the kind of COMPACT STORAGE of a table.
func (c *coder) compact(t *Table) {
	c.values((*byte)(&t.Compact))
	regular := slices.ContainsFunc(t.Columns, func(c *Column) bool { return c.Kind == Regular })
	clustered := slices.ContainsFunc(t.Columns, func(c *Column) bool { return c.Kind == Clustering })
	if c.reading && (t.Compact != CompactStatic && t.Compact != CompactDense || !regular || !clustered) {
		c.fail(fmt.Errorf("table %s cannot have COMPACT STORAGE of kind %d", t.Name, t.Compact))
	}
}

// CompactColumns are the columns of a table WITH COMPACT STORAGE that was declared with those given, and its kind.
func CompactColumns(declared []*Column) ([]*Column, Compact) {
	has := func(kind ColumnKind) bool {
		return slices.ContainsFunc(declared, func(c *Column) bool { return c.Kind == kind })
	}
	columns := slices.Clone(declared)
	if has(Clustering) {
		if !has(Regular) {
			columns = append(columns, &Column{Name: freeName(declared, "value", 0), Type: types.Empty, Kind: Regular})
		}
		return columns, CompactDense
	}
	value := types.Blob
	for i, c := range columns {
		if c.Kind == Regular {
			static := *c
			static.Kind, columns[i] = Static, &static
			if c.isCounter() {
				value = types.Counter
			}
		}
	}
	return append(columns,
		&Column{Name: freeName(declared, "column", 1), Type: types.Text, Kind: Clustering},
		&Column{Name: freeName(declared, "value", 0), Type: value, Kind: Regular}), CompactStatic
}

// freeName is the first unused column name among beginning, beginning1, beginning2 and so on, from a number on; zero
// is left out.
func freeName(columns []*Column, beginning string, number int) string {
	for ; ; number++ {
		name := beginning
		if number > 0 {
			name += strconv.Itoa(number)
		}
		if !slices.ContainsFunc(columns, func(c *Column) bool { return c.Name == name }) {
			return name
		}
	}
}

// hides reports whether statements cannot name a column.
func (t *Table) hides(c *Column) bool {
	switch t.Compact {
	case CompactStatic:
		return c.Kind == Clustering || c.Kind == Regular
	case CompactDense:
		return c.Kind == Regular && c.Type == types.Empty
	}
	return false
}

// Visible returns the column of that name that statements may name, or nil.
func (t *Table) Visible(name string) *Column {
	if c := t.byName[name]; c != nil && !t.hides(c) {
		return c
	}
	return nil
}

// Shown are the columns that SELECT * shows.
func (t *Table) Shown() []*Column {
	if t.Compact == NotCompact {
		return t.Columns
	}
	return slices.DeleteFunc(slices.Clone(t.Columns), t.hides)
}

// KeepsRows returns the column that rows of a table WITH COMPACT STORAGE are there by, beside clustering columns.
func (t *Table) KeepsRows() *Column {
	if t.Compact == NotCompact {
		return nil
	}
	return t.Regular[0]
}

// Flags are the flags of the table in system_schema.
func (t *Table) Flags() []string {
	var flags []string
	if t.Compact == NotCompact || len(t.Clustering) > 1 {
		flags = append(flags, "compound")
	}
	if t.Counter {
		flags = append(flags, "counter")
	}
	if t.Compact == CompactDense {
		flags = append(flags, "dense")
	}
	return flags
}

// WithoutCompactStorage returns the table as an ordinary one, all of whose columns can be seen.
func (t *Table) WithoutCompactStorage() *Table {
	spec := *t
	spec.Compact = NotCompact
	return NewTable(spec)
}
