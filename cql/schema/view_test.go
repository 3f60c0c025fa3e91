package schema_test

import (
	"reflect"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// withViews is sample with two views of table t, one of them of all its columns.
func withViews(t *testing.T) *schema.Catalog {
	c := sample(t)
	base := c.Table("a", "t")
	where := []schema.ViewRelation{
		{Columns: []string{"k2"}, Rest: "IN (1, 2)", Test: schema.OneOf, Values: [][][]byte{
			{types.EncodeInt(1)}, {types.EncodeInt(2)},
		}},
		{Columns: []string{"k1"}, Rest: "IS NOT NULL"},
		{
			Columns: []string{"c"}, Tuple: true, Rest: "> (00000000-0000-0000-0000-000000000001)", Test: schema.Greater,
			Values: [][][]byte{
				{make([]byte, 16)},
			},
		},
	}
	view := func(name string, all bool) *schema.Table {
		return schema.NewTable(schema.Table{
			Keyspace: "a", Name: name, ID: [16]byte{9, name[0]}, Options: schema.DefaultTableOptions(),
			View: &schema.View{BaseID: base.ID, Base: base.Name, All: all, Where: where},
			Columns: []*schema.Column{
				column("k1", types.Text, schema.PartitionKey), column("k2", types.Int, schema.PartitionKey),
				{Name: "c", Type: types.UUID, Kind: schema.Clustering, Desc: true},
				column("z", types.Int, schema.Regular),
			},
		})
	}
	return c.WithTable(view("all", true)).WithTable(view("Some", false))
}

// Views are found like tables, kept apart from them, and count in the version.
func TestViews(t *testing.T) {
	c := withViews(t)
	k, base := c.Keyspace("a"), c.Table("a", "t")
	if len(k.Tables) != 2 || len(k.Views) != 2 || len(k.TablesAndViews()) != 4 || c.Table("a", "all").View == nil {
		t.Errorf("%d tables, %d views", len(k.Tables), len(k.Views))
	}
	if views := k.ViewsOf(base); len(views) != 2 || views[0].Name != "all" || c.Base(views[0]) != base {
		t.Errorf("views of t: %v", views)
	}
	if len(k.ViewsOf(c.Table("a", "u"))) != 0 || c.TableByID([16]byte{9, 'a'}) != k.Views["all"] {
		t.Error("found the views of another table")
	}
	without := c.WithoutTable("a", "all")
	if without.Table("a", "all") != nil || without.Version() == c.Version() || c.Version() == sample(t).Version() {
		t.Error("a view does not count")
	}
	if without.WithoutTable("a", "Some").Version() != sample(t).Version() {
		t.Error("without views the version is another")
	}
}

func TestEncodeViews(t *testing.T) {
	c := withViews(t)
	r := schema.Encode(c)
	again := decode(t, r)
	if !reflect.DeepEqual(schema.Encode(again), r) || again.Version() != c.Version() {
		t.Error("views change in an encoding")
	}
	for name, v := range c.Keyspace("a").Views {
		if got := again.Keyspace("a").Views[name]; got == nil || got.CQL(true) != v.CQL(true) ||
			got.View.BaseID != v.View.BaseID {
			t.Errorf("view %s becomes %v", name, got)
		}
	}
	without := c.WithoutTable("a", "all")
	if changes := schema.Changes(c, without); len(changes) != 1 || changes["a"] == nil {
		t.Errorf("without a view %d records are others", len(changes))
	}
}

// What is added to the base is added to views of all its columns; what gets another name gets it in all.
func TestViewsFollowTheirBase(t *testing.T) {
	c := withViews(t)
	added := column("n", types.Text, schema.Regular)
	all, some := c.Table("a", "all"), c.Table("a", "Some")
	if got := all.WithBaseColumns(added); got.Column("n") == nil || got.Column("z").ID != all.Column("z").ID ||
		got.ID != all.ID {
		t.Errorf("a view of all columns becomes\n%s", got.CQL(false))
	}
	if got := some.WithBaseColumns(added); got != some {
		t.Errorf("another view becomes\n%s", got.CQL(false))
	}
	renamed := some.WithBaseColumnRenamed("k2", "K 2")
	want := `"K 2" IN (1, 2) AND k1 IS NOT NULL AND (c) > (00000000-0000-0000-0000-000000000001)`
	if got := renamed.View.WhereText(); got != want || renamed.Column("k2") != nil ||
		renamed.Column("K 2").ID != some.Column("k2").ID {
		t.Errorf("renamed: %s", got)
	}
	if some.View.Where[0].Columns[0] != "k2" || some.Column("k2") == nil {
		t.Error("the view changed in place")
	}
}

// A user type is changed in views as in tables.
func TestViewsWithType(t *testing.T) {
	c := withTypes(t)
	base := c.Table("a", "v")
	c = c.WithTable(schema.NewTable(schema.Table{
		Keyspace: "a", Name: "mv", ID: [16]byte{9}, View: &schema.View{BaseID: base.ID, Base: base.Name},
		Columns: []*schema.Column{
			column("k", types.Int, schema.PartitionKey),
			column("b", base.Column("b").Type, schema.Regular),
		},
	}))
	changed := *c.Type("a", "a")
	changed.Fields = append(changed.Fields[:1:1], types.Field{Name: "y", Type: types.Text})
	c = c.WithType(&changed)
	if view := c.Table("a", "mv"); view.View == nil ||
		!types.Equal(view.Column("b").Type, c.Table("a", "v").Column("b").Type) {
		t.Errorf("the view is\n%s", view.CQL(false))
	}
}
