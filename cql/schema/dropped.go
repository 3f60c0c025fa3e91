package schema

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/types"
)

// DroppedColumn is what a table remembers of a column that was dropped, also when there is one of its name again.
type DroppedColumn struct {
	Column       // as it was, with tuples in place of user types
	Time   int64 // microseconds: what was written then or before is gone for ever
}

// DroppedColumn returns what is remembered of a column of that name that was dropped, or nil.
func (t *Table) DroppedColumn(name string) *DroppedColumn {
	for _, d := range t.Dropped {
		if d.Name == name {
			return d
		}
	}
	return nil
}

// WithoutColumns returns the table without columns that are not of its key, dropped as of a time in microseconds.
func (t *Table) WithoutColumns(names []string, at int64) *Table {
	spec := *t
	spec.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c *Column) bool { return slices.Contains(names, c.Name) })
	spec.Dropped = slices.Clone(t.Dropped)
	for _, name := range names {
		d := &DroppedColumn{Column: *t.Column(name), Time: at}
		d.Type = types.WithoutUserTypes(d.Type)
		if i := slices.Index(spec.Dropped, t.DroppedColumn(name)); i >= 0 {
			spec.Dropped[i] = d
		} else {
			spec.Dropped = append(spec.Dropped, d)
		}
	}
	n := NewTable(spec)
	n.Dropped = hashOrder(spec.Dropped, len(t.Dropped))
	return n
}

// WithColumns returns the table with more columns. One that was there before has its cells again, but for those that
// Lost tells of; of one whose parts are stored in another way none.
func (t *Table) WithColumns(added []*Column) *Table {
	spec := *t
	spec.Columns = slices.Clone(t.Columns)
	for _, given := range added {
		c := *given
		if d := t.DroppedColumn(c.Name); d != nil && (!types.IsMultiCell(c.Type) || types.Equal(c.Type, d.Type)) {
			c.ID = d.ID
		}
		spec.Columns = append(spec.Columns, &c)
	}
	return NewTable(spec)
}

// Lost returns the timestamp up to which cells are never seen again that are stored under a column's ID, and whether
// there is one. Those of IDs that may be given to columns later are not.
func (t *Table) Lost(id uint32) (upTo int64, some bool) {
	upTo, some = t.lost[id]
	return upTo, some
}

// Loses reports whether Lost holds for any ID.
func (t *Table) Loses() bool { return len(t.lost) > 0 }

// lostCells makes what Lost looks up.
func (t *Table) lostCells() map[uint32]int64 {
	if len(t.Columns)+1 == int(t.NextID) && len(t.Dropped) == 0 {
		return nil
	}
	lost := make(map[uint32]int64)
	for id := uint32(1); id < t.NextID; id++ {
		lost[id] = math.MaxInt64
	}
	for _, c := range t.Columns {
		delete(lost, c.ID)
	}
	for _, d := range t.Dropped {
		id := d.ID
		if c := t.Column(d.Name); c != nil && !c.Kind.IsKey() {
			id = c.ID
		}
		lost[id] = d.Time
	}
	return lost
}

// hashOrder sorts columns as a Java hash map holds them by name into which the first ones, already, were put together
// before the others. DESCRIBE shows them so.
func hashOrder(columns []*DroppedColumn, already int) []*DroppedColumn {
	size := 16
	if already > 0 {
		for size = 1; size < int(float32(already)/0.75+1); size *= 2 {
		}
	}
	for n := range columns {
		if size < 64 && crowded(columns[:n], hashBucket(columns[n].Name, size), size) {
			size *= 2
		}
		if n >= size*3/4 {
			size *= 2
		}
	}
	sorted := slices.Clone(columns)
	slices.SortStableFunc(sorted, func(a, b *DroppedColumn) int {
		return cmp.Compare(hashBucket(a.Name, size), hashBucket(b.Name, size))
	})
	return sorted
}

// crowded reports whether a bucket has so many columns that a small hash map grows when it gets another.
func crowded(columns []*DroppedColumn, bucket uint32, size int) bool {
	n := 0
	for _, c := range columns {
		if hashBucket(c.Name, size) == bucket {
			n++
		}
	}
	return n >= 8
}

// hashBucket is where a Java hash map of that size has a column name, which it compares by its bytes.
func hashBucket(name string, size int) uint32 {
	h := uint32(1)
	for i := len(name) - 1; i >= 0; i-- {
		h = 31*h + uint32(int8(name[i]))
	}
	return (h ^ h>>16) & uint32(size-1)
}

// NamesInHashOrder returns names of columns, each once, in the order in which Cassandra goes over those of DROP and RENAME:
// they are in a Java hash map.
func NamesInHashOrder(names []string) []string {
	var sorted []string
	for _, name := range names {
		if !slices.Contains(sorted, name) {
			sorted = append(sorted, name)
		}
	}
	size := 16
	for len(sorted) > size*3/4 {
		size *= 2
	}
	slices.SortStableFunc(sorted, func(a, b string) int { return cmp.Compare(hashBucket(a, size), hashBucket(b, size)) })
	return sorted
}

// droppedSection is the encoding of the columns that were dropped, by name.
//
//	<n> n × (name type kind id time)
var droppedSection = section[*Table]{
	number:  1,
	present: func(t *Table) bool { return len(t.Dropped) > 0 },
	write: func(e *encoder, t *Table) {
		e.uint(uint64(len(t.Dropped)))
		for _, d := range droppedByName(t) {
			e.string(d.Name)
			e.string(types.ExactClassName(d.Type))
			e.b = append(e.b, byte(d.Kind))
			e.uint(uint64(d.ID))
			e.int(int(d.Time))
		}
	},
	read: func(d *decoder, t *Table) {
		for range d.count() {
			c := Column{Name: d.string()}
			c.Type = d.columnType()
			c.Kind = ColumnKind(d.byte())
			c.ID = uint32(d.uint())
			if c.Kind != Static && c.Kind != Regular {
				d.fail(fmt.Errorf("dropped column %s has kind %d", c.Name, c.Kind))
				return
			}
			t.Dropped = append(t.Dropped, &DroppedColumn{Column: c, Time: int64(d.int())})
		}
	},
}

func droppedByName(t *Table) []*DroppedColumn {
	return slices.SortedFunc(slices.Values(t.Dropped), func(a, b *DroppedColumn) int { return strings.Compare(a.Name, b.Name) })
}
