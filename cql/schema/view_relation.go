package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
)

// ViewTest is how a relation compares its columns with values.
type ViewTest uint8

// The tests. Cassandra looks for nulls only in the key of a view, so IS NOT NULL compares nothing.
const (
	NotNull ViewTest = iota
	OneOf
	Less
	LessEq
	Greater
	GreaterEq
	HasElement
	HasKey
)

// ViewRelation is one relation of a view's WHERE clause: its text, and what rows of the base are compared with.
type ViewRelation struct {
	Columns []string // of the base
	Tuple   bool     // they are written in parentheses
	Rest    string   // the text that follows the columns
	Test    ViewTest
	Values  [][][]byte // of OneOf any number of points, of others one; each has a value for each column
}

// String is the relation as Cassandra writes it.
func (r *ViewRelation) String() string {
	names := make([]string, len(r.Columns))
	for i, name := range r.Columns {
		names[i] = quote.Name(name)
	}
	columns := strings.Join(names, ", ")
	if r.Tuple {
		columns = "(" + columns + ")"
	}
	return columns + " " + r.Rest
}

// Holds reports whether a row of the base, by column index, satisfies the relation.
func (r *ViewRelation) Holds(base *Table, row [][]byte) bool {
	switch r.Test {
	case NotNull:
		return true
	case OneOf:
		return slices.ContainsFunc(r.Values, func(point [][]byte) bool { return r.compare(base, row, point) == 0 })
	case HasElement, HasKey:
		c := base.Column(r.Columns[0])
		return hasElement(c.Type, row[c.Index], r.Values[0][0], r.Test == HasKey)
	}
	order := r.compare(base, row, r.Values[0])
	switch r.Test {
	case Less:
		return order < 0
	case LessEq:
		return order <= 0
	case Greater:
		return order > 0
	}
	return order >= 0
}

// compare compares the row's columns, which are of its key and so not null, with a point.
func (r *ViewRelation) compare(base *Table, row, point [][]byte) int {
	for i, name := range r.Columns {
		c := base.Column(name)
		if order := c.Type.Compare(row[c.Index], point[i]); order != 0 {
			return order
		}
	}
	return 0
}

// hasElement reports whether a collection has a value, or a map a key.
func hasElement(t types.Type, collection, wanted []byte, key bool) bool {
	if m, ok := t.(*types.Map); ok {
		for k, v := range types.Entries(collection) {
			if key && m.Key.Compare(k, wanted) == 0 || !key && m.Value.Compare(v, wanted) == 0 {
				return true
			}
		}
		return false
	}
	elem := elementType(t)
	for e := range types.Elements(collection) {
		if e != nil && elem.Compare(e, wanted) == 0 {
			return true
		}
	}
	return false
}

// elementType is the type of the elements of a list or set.
func elementType(t types.Type) types.Type {
	if s, ok := t.(*types.Set); ok {
		return s.Elem
	}
	return t.(*types.List).Elem
}

// renamed is the relation after a column has got another name.
func (r ViewRelation) renamed(from, to string) ViewRelation {
	r.Columns = slices.Clone(r.Columns)
	for i, name := range r.Columns {
		if name == from {
			r.Columns[i] = to
		}
	}
	return r
}

func (e *encoder) viewRelation(r *ViewRelation) {
	e.uint(uint64(len(r.Columns)))
	for _, name := range r.Columns {
		e.string(name)
	}
	e.bool(r.Tuple)
	e.string(r.Rest)
	e.b = append(e.b, byte(r.Test))
	e.uint(uint64(len(r.Values)))
	for _, point := range r.Values {
		for _, value := range point {
			e.bytes(value)
		}
	}
}

func (d *decoder) viewRelation() ViewRelation {
	var r ViewRelation
	for range d.count() {
		r.Columns = append(r.Columns, d.string())
	}
	r.Tuple, r.Rest, r.Test = d.bool(), d.string(), ViewTest(d.byte())
	if r.Test > HasKey {
		d.fail(fmt.Errorf("a view has a relation of unknown kind %d", r.Test))
	}
	for range d.count() {
		point := make([][]byte, len(r.Columns))
		for i := range point {
			point[i] = d.bytes()
		}
		r.Values = append(r.Values, point)
	}
	return r
}
