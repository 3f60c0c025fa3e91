package schema

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/types"
)

// Mask is the function that hides the values of a column from those who may not see them. Values are the arguments
// after the value that it hides.
type Mask struct {
	Keyspace, Function string
	Args               []MaskArg
}

// MaskArg is an argument of a mask.
type MaskArg struct {
	Type  types.Type
	Value []byte // nil: null
}

// String is the mask as DESCRIBE shows it.
func (m *Mask) String() string {
	args := make([]string, len(m.Args))
	for i, a := range m.Args {
		if args[i] = "null"; a.Value != nil {
			args[i] = a.Type.Format(a.Value)
		}
	}
	return m.Keyspace + "." + m.Function + "(" + strings.Join(args, ", ") + ")"
}

// Calls reports whether a mask, which may be nil, is the function of that name that takes arguments of those types.
func (m *Mask) Calls(keyspace, name string, args []types.Type) bool {
	return m != nil && m.Keyspace == keyspace && m.Function == name && len(args) == len(m.Args)+1 &&
		slices.EqualFunc(m.Args, args[1:], func(a MaskArg, t types.Type) bool { return types.Equal(a.Type, t) })
}

// Equal reports whether two masks, either of which may be nil, hide the same.
func (m *Mask) Equal(o *Mask) bool {
	if m == nil || o == nil {
		return m == o
	}
	return m.Keyspace == o.Keyspace && m.Function == o.Function &&
		slices.EqualFunc(m.Args, o.Args, func(a, b MaskArg) bool {
			return bytes.Equal(a.Value, b.Value) && (a.Value == nil) == (b.Value == nil)
		})
}

// Text is the argument as system_schema.column_masks shows it, empty for null: collections as their bytes.
func (a *MaskArg) Text() string {
	if a.Value == nil {
		return ""
	}
	return valueText(a.Type, a.Value)
}

func valueText(t types.Type, b []byte) string {
	switch t := t.(type) {
	case *types.List, *types.Set, *types.Map:
		return hex.EncodeToString(b)
	case *types.Tuple:
		return tupleText(t.Elems, b)
	case *types.UserType:
		elems := make([]types.Type, len(t.Fields))
		for i, f := range t.Fields {
			elems[i] = f.Type
		}
		return tupleText(elems, b)
	}
	switch t {
	case types.Text, types.ASCII:
		return string(b)
	case types.Blob:
		return hex.EncodeToString(b)
	}
	return strings.Trim(t.Format(b), "'")
}

// tupleText has colons between values and @ for null.
func tupleText(elems []types.Type, b []byte) string {
	parts := make([]string, len(elems))
	for i, v := range types.TupleFields(b, len(elems)) {
		if parts[i] = "@"; v != nil {
			parts[i] = strings.NewReplacer(":", `\:`, "@", `\@`).Replace(valueText(elems[i], v))
		}
	}
	return strings.Join(parts, ":")
}

// WithMask returns the table with another mask of a column, nil for none.
func (t *Table) WithMask(column string, mask *Mask) *Table {
	return NewTable(t.withColumns(func(c *Column) {
		if c.Name == column {
			c.Mask = mask
		}
	}))
}

// EachMask calls fn for each masked column, also for dropped columns that were not added again: Cassandra keeps the
// rows of their masks.
func (t *Table) EachMask(fn func(*Column)) {
	for _, c := range t.Columns {
		if c.Mask != nil {
			fn(c)
		}
	}
	for _, d := range droppedByName(t) {
		if d.Mask != nil && t.Column(d.Name) == nil {
			fn(&d.Column)
		}
	}
}

// hasMasks reports whether a column or a dropped column has a mask.
func hasMasks(t *Table) bool {
	return slices.ContainsFunc(t.Columns, func(c *Column) bool { return c.Mask != nil }) ||
		slices.ContainsFunc(t.Dropped, func(d *DroppedColumn) bool { return d.Mask != nil })
}

// masks codes the masks of columns, then of dropped columns. The section of dropped columns comes before this one.
func (c *coder) masks(t *Table) {
	c.masksOf(t.Columns)
	var gone []*Column
	for _, d := range droppedByName(t) {
		gone = append(gone, &d.Column)
	}
	c.masksOf(gone)
}

// masksOf codes the masks of some columns.
//
//	<n> n × (column keyspace function <m> m × (type [null] value))
func (c *coder) masksOf(columns []*Column) {
	masked := slices.DeleteFunc(slices.Clone(columns), func(c *Column) bool { return c.Mask == nil })
	pointers(c, &masked, func(column *Column) {
		if c.reading {
			column.Mask = new(Mask)
		}
		m := column.Mask
		c.values(&column.Name, &m.Keyspace, &m.Function)
		list(c, &m.Args, func(a *MaskArg) {
			null := a.Value == nil
			if c.values(&a.Type, &null, &a.Value); null {
				set(c, &a.Value, nil)
			}
		})
		if !c.reading {
			return
		}
		i := slices.IndexFunc(columns, func(c *Column) bool { return c.Name == column.Name })
		if i < 0 {
			c.fail(fmt.Errorf("column %s, which has a mask, is not there", column.Name))
			return
		}
		columns[i].Mask = m
	})
}
