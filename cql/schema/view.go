package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/quote"
	"github.com/cqld/cqld/cql/types"
)

// View makes a table a materialized view: it has rows of another table under a different primary key.
type View struct {
	BaseID [16]byte
	Base   string // the name of the table that it is made of
	All    bool   // it was made of *: columns that are added to the base are added to it
	Where  []ViewRelation
}

// WhereText is the WHERE clause as Cassandra writes it.
func (v *View) WhereText() string {
	relations := make([]string, len(v.Where))
	for i := range v.Where {
		relations[i] = v.Where[i].String()
	}
	return strings.Join(relations, " AND ")
}

// ViewsOf returns the views of a table by name, whatever its case.
func (k *Keyspace) ViewsOf(base *Table) []*Table {
	var views []*Table
	for _, v := range k.SortedViews() {
		if v.View.BaseID == base.ID {
			views = append(views, v)
		}
	}
	slices.SortStableFunc(views, func(a, b *Table) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return views
}

// SortedViews returns the views in the order of Cassandra's map of them.
func (k *Keyspace) SortedViews() []*Table {
	var views []*Table
	for _, name := range hashOrder(slices.Sorted(maps.Keys(k.Views))) {
		views = append(views, k.Views[name])
	}
	return views
}

// TablesAndViews are the tables and the views, in no order.
func (k *Keyspace) TablesAndViews() []*Table {
	return slices.AppendSeq(slices.Collect(maps.Values(k.Tables)), maps.Values(k.Views))
}

// Base returns the table that a view is made of.
func (c *Catalog) Base(view *Table) *Table {
	k := c.keyspaces[view.Keyspace]
	if k == nil {
		return nil
	}
	if t := k.Tables[view.View.Base]; t != nil && t.ID == view.View.BaseID {
		return t
	}
	return nil
}

// WithBaseColumns is a view of * with columns that have been added to its base; other views stay as they are.
func (t *Table) WithBaseColumns(added ...*Column) *Table {
	if !t.View.All {
		return t
	}
	spec := *t
	spec.Columns = slices.Clip(t.Columns)
	for _, c := range added {
		spec.Columns = append(spec.Columns, &Column{Name: c.Name, Type: c.Type, Kind: Regular})
	}
	return NewTable(spec)
}

// WithBaseColumnRenamed is a view after a column of its base has got another name.
func (t *Table) WithBaseColumnRenamed(from, to string) *Table {
	spec := t.withColumns(func(c *Column) {
		if c.Name == from {
			c.Name = to
		}
	})
	view := *t.View
	view.Where = slices.Clone(view.Where)
	for i := range view.Where {
		view.Where[i] = view.Where[i].renamed(from, to)
	}
	spec.View = &view
	return NewTable(spec)
}

// views codes the views of a keyspace: the table and the View of each.
func (c *coder) views(k *Keyspace) {
	views := slices.SortedFunc(maps.Values(k.Views), func(a, b *Table) int { return strings.Compare(a.Name, b.Name) })
	list(c, &views, func(p **Table) {
		if c.table(p, k.Name); c.reading {
			(*p).View = new(View)
		}
		v := (*p).View
		c.values(&v.BaseID, &v.Base, &v.All)
		list(c, &v.Where, c.viewRelation)
	})
	if c.reading {
		k.Views = make(map[string]*Table, len(views))
		for _, t := range views {
			k.Views[t.Name] = t
		}
	}
}

// viewCQL is the statement that makes a view, as DESCRIBE shows it.
func (t *Table) viewCQL(internals bool) string {
	keyspace, selected := quote.Name(t.Keyspace), "*"
	if !t.View.All {
		selected = quoteNames(t.Columns)
	}
	return "CREATE MATERIALIZED VIEW " + keyspace + "." + quote.Name(t.Name) + " AS\n    SELECT " + selected +
		"\n    FROM " + keyspace + "." + quote.Name(t.View.Base) + "\n    WHERE " + t.View.WhereText() +
		"\n    " + t.describeKey() + "\n WITH " + strings.Join(t.describeOptions(internals), "\n    AND ") + ";"
}

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

// ViewRelation is one relation of a view's WHERE clause: its text, and the values that rows of the base table are
// compared with.
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
	_, elem := types.ElementTypes(t)
	for e := range types.Elements(collection) {
		if e != nil && elem.Compare(e, wanted) == 0 {
			return true
		}
	}
	return false
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

func (c *coder) viewRelation(r *ViewRelation) {
	list(c, &r.Columns, func(name *string) { c.values(name) })
	c.values(&r.Tuple, &r.Rest, (*byte)(&r.Test))
	if r.Test > HasKey {
		c.fail(fmt.Errorf("a view has a relation of unknown kind %d", r.Test))
	}
	list(c, &r.Values, func(point *[][]byte) {
		if c.reading {
			*point = make([][]byte, len(r.Columns))
		}
		for i := range *point {
			c.values(&(*point)[i])
		}
	})
}
