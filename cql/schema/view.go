package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/quote"
)

// View is what makes a table a materialized view: which rows of another table it has, under a primary key of its own.
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

// SortedViews returns the views in the order in which Cassandra's map of them has them.
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
	spec := *t
	spec.Columns = make([]*Column, len(t.Columns))
	for i, given := range t.Columns {
		c := *given
		if c.Name == from {
			c.Name = to
		}
		spec.Columns[i] = &c
	}
	view := *t.View
	view.Where = slices.Clone(view.Where)
	for i := range view.Where {
		view.Where[i] = view.Where[i].renamed(from, to)
	}
	spec.View = &view
	return NewTable(spec)
}

// viewSection has the views of a keyspace: of each its table, and what makes it a view.
var viewSection = section[*Keyspace]{
	number:  1,
	present: func(k *Keyspace) bool { return len(k.Views) > 0 },
	write: func(e *encoder, k *Keyspace) {
		e.uint(uint64(len(k.Views)))
		for _, name := range slices.Sorted(maps.Keys(k.Views)) {
			e.table(k.Views[name])
			e.view(k.Views[name].View)
		}
	},
	read: func(d *decoder, k *Keyspace) {
		n := d.count()
		k.Views = make(map[string]*Table, n)
		for range n {
			t := d.table(k.Name)
			v := d.view()
			if d.err != nil {
				return
			}
			t.View = v
			k.Views[t.Name] = t
		}
	},
}

// view writes what makes a table a view.
func (e *encoder) view(v *View) {
	e.b = append(e.b, v.BaseID[:]...)
	e.string(v.Base)
	e.bool(v.All)
	e.uint(uint64(len(v.Where)))
	for i := range v.Where {
		e.viewRelation(&v.Where[i])
	}
}

func (d *decoder) view() *View {
	v := &View{BaseID: [16]byte(d.take(16)), Base: d.string(), All: d.bool()}
	for range d.count() {
		v.Where = append(v.Where, d.viewRelation())
	}
	return v
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
