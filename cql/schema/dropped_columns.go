package schema

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/types"
)

// DroppedColumn is a column that was dropped. The table keeps it also when a column of its name was added again.
type DroppedColumn struct {
	Column       // as it was, with tuples in place of user types
	Time   int64 // in microseconds: cells with this timestamp or an earlier one are never seen again
}

// DroppedColumn returns the dropped column of that name, or nil.
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
	spec.Columns = slices.DeleteFunc(slices.Clone(t.Columns),
		func(c *Column) bool { return slices.Contains(names, c.Name) })
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
	n.Dropped = droppedOrder(spec.Dropped, len(t.Dropped))
	return n
}

// WithColumns returns the table with more columns. A column that was dropped before gets its cells back, except those
// that Lost covers. If its new type is stored in another way it gets none back.
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

// Lost returns the timestamp up to which the cells stored under a column's ID are never seen again, and whether there
// is one. No cells are lost under IDs that no column has had.
func (t *Table) Lost(id uint32) (upTo int64, some bool) {
	upTo, some = t.lost[id]
	return upTo, some
}

// Loses reports whether Lost holds for any ID.
func (t *Table) Loses() bool { return len(t.lost) > 0 }

// lostCells makes the map for Lost.
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

// droppedOrder sorts columns in the order of a hash map by name, into which the first few (already) were put together
// before the others. DESCRIBE shows them so.
func droppedOrder(columns []*DroppedColumn, already int) []*DroppedColumn {
	size := firstPlaces
	if already > 0 {
		for size = 1; size < places(float32(already)/0.75+1); size *= 2 {
		}
	}
	for n := range columns {
		if size < 64 && crowded(columns[:n], size, columns[n].Name) {
			size *= 2
		}
		if n >= int(size)*3/4 {
			size *= 2
		}
	}
	sorted := slices.Clone(columns)
	slices.SortStableFunc(sorted, func(a, b *DroppedColumn) int {
		return cmp.Compare(size.of(bytesHash(a.Name)), size.of(bytesHash(b.Name)))
	})
	return sorted
}

// crowded reports whether so many columns have the place of another one that a small hash map grows when it gets that.
func crowded(columns []*DroppedColumn, size places, name string) bool {
	n := 0
	for _, c := range columns {
		if size.of(bytesHash(c.Name)) == size.of(bytesHash(name)) {
			n++
		}
	}
	return n >= 8
}

// dropped codes the columns that were dropped, by name.
//
//	<n> n × (name type kind id time)
func (c *coder) dropped(t *Table) {
	all := droppedByName(t)
	pointers(c, &all, func(d *DroppedColumn) {
		c.values(&d.Name, &d.Type, (*byte)(&d.Kind), &d.ID, &d.Time)
		if d.Kind != Static && d.Kind != Regular {
			c.fail(fmt.Errorf("dropped column %s has kind %d", d.Name, d.Kind))
		}
	})
	set(c, &t.Dropped, all)
}

func droppedByName(t *Table) []*DroppedColumn {
	return slices.SortedFunc(slices.Values(t.Dropped),
		func(a, b *DroppedColumn) int { return strings.Compare(a.Name, b.Name) })
}
