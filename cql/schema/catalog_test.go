package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// column is shorthand for a column of a table under test.
func column(name string, t types.Type, kind schema.ColumnKind) *schema.Column {
	return &schema.Column{Name: name, Type: t, Kind: kind}
}

func newTable(keyspace, name string, columns ...*schema.Column) *schema.Table {
	return schema.NewTable(schema.Table{
		Keyspace: keyspace, Name: name, ID: [16]byte{1, 2, name[0] - 's'}, Columns: columns,
		Options: schema.DefaultTableOptions(),
	})
}

func newKeyspace(t *testing.T, name string) *schema.Keyspace {
	t.Helper()
	k, _, err := schema.NewKeyspace(name, []schema.Property{
		{Name: "replication", Map: map[string]string{"class": "SimpleStrategy", "replication_factor": "1"}},
	}, schema.Placement{Datacenter: "datacenter1"})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// sample is a catalog with a system keyspace, and user keyspaces a with tables t and u, and b without.
func sample(t *testing.T) *schema.Catalog {
	return schema.New(&schema.Keyspace{Name: "system"}).
		WithKeyspace(newKeyspace(t, "b")).
		WithKeyspace(newKeyspace(t, "a")).
		WithTable(newTable("a", "u",
			column("k", types.Int, schema.PartitionKey),
			column("v", &types.List{Elem: &types.Vector{Elem: &types.Set{Elem: types.Int}, Dim: 2}, Frozen: true},
				schema.Regular))).
		WithTable(newTable("a", "t",
			column("k2", types.Int, schema.PartitionKey), column("k1", types.Text, schema.PartitionKey),
			&schema.Column{Name: "c", Type: types.UUID, Kind: schema.Clustering, Desc: true},
			column("z", types.Int, schema.Regular), column("s", types.Int, schema.Static),
			column("A", &types.List{Elem: types.Text, Frozen: true}, schema.Regular)).WithStoreID(1007))
}

func TestNewTable(t *testing.T) {
	table := sample(t).Table("a", "t")
	got := ""
	for i, c := range table.Columns {
		if c.Index != i || table.Column(c.Name) != c {
			t.Errorf("column %s has index %d at %d", c.Name, c.Index, i)
		}
		got += fmt.Sprintf("%s %s %d #%d, ", c.Name, c.Kind, c.Position, c.ID)
	}
	want := "k2 partition_key 0 #1, k1 partition_key 1 #2, c clustering 0 #3, s static 0 #5, A regular 0 #6, " +
		"z regular 1 #4, "
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if table.NextID != 7 || table.Counter || len(table.PartitionKey) != 2 || len(table.Regular) != 2 {
		t.Errorf("derived %+v", table)
	}

	// A column that is added gets an id that no column had, though one was dropped.
	spec := *table
	spec.Columns = append(spec.Columns[:4:4], column("A", types.Int, schema.Regular))
	changed := schema.NewTable(spec)
	if id := changed.Column("A").ID; id != 7 || changed.NextID != 8 || changed.Column("s").ID != 5 {
		t.Errorf("the added column has id %d, next is %d", id, changed.NextID)
	}
	counter := newTable("a", "n", column("k", types.Int, schema.PartitionKey), column("n", types.Counter, schema.Regular))
	if !counter.Counter {
		t.Error("a table with a counter column is no counter table")
	}
}

func TestCatalogSnapshots(t *testing.T) {
	c := sample(t)
	var names []string
	for _, k := range c.Keyspaces() {
		names = append(names, k.Name)
	}
	if fmt.Sprint(names) != "[a b system]" {
		t.Errorf("keyspaces %v", names)
	}
	without := c.WithoutTable("a", "t")
	if without.Table("a", "t") != nil || without.Table("a", "u") == nil || c.Table("a", "t") == nil {
		t.Error("WithoutTable changed what it should not")
	}
	if c.WithoutTable("a", "nope") != c || c.WithoutTable("nope", "t") != c {
		t.Error("removing what does not exist made another catalog")
	}
	without = c.WithoutKeyspace("a")
	if without.Keyspace("a") != nil || without.Table("a", "t") != nil || c.Keyspace("a") == nil {
		t.Error("WithoutKeyspace changed what it should not")
	}
	if c.Table("nope", "t") != nil || c.Table("a", "nope") != nil {
		t.Error("found a table that does not exist")
	}
	if table := c.Table("a", "t"); c.TableByID(table.ID) == nil || c.TableByID([16]byte{9}) != nil {
		t.Error("TableByID does not find what is there")
	}
	if tables := c.Keyspace("a").SortedTables(); len(tables) != 2 || tables[0].Name != "t" {
		t.Errorf("tables %v", tables)
	}
}

func TestVersion(t *testing.T) {
	empty := schema.New(&schema.Keyspace{Name: "system"})
	if got := fmt.Sprintf("%x", empty.Version()); got != "d03783d7b4683c1a82f18e30b2edde8b" {
		t.Errorf("empty version %s", got)
	}
	c := sample(t)
	version := c.Version()
	if version[6]>>4 != 3 || version[8]>>6 != 2 {
		t.Errorf("version %x is not an MD5 UUID", version)
	}
	table := c.Table("a", "t")
	same := map[string]*schema.Catalog{
		"same content":        sample(t),
		"truncated":           c.WithTable(table.WithStoreID(1008)),
		"dropped and made":    c.WithoutTable("a", "t").WithTable(table),
		"system table made":   c.WithTable(newTable("system", "x", column("k", types.Int, schema.PartitionKey))),
		"through an encoding": decode(t, schema.Encode(c)),
	}
	for name, other := range same {
		if other.Version() != version {
			t.Errorf("%s: version changes", name)
		}
	}
	commented := *table
	commented.Options.Comment = "x"
	other := map[string]*schema.Catalog{
		"without a table":    c.WithoutTable("a", "u"),
		"without a keyspace": c.WithoutKeyspace("b"),
		"other option":       c.WithTable(schema.NewTable(commented)),
		"other table":        c.WithTable(newTable("b", "u", column("k", types.Int, schema.PartitionKey))),
	}
	for name, other := range other {
		if other.Version() == version {
			t.Errorf("%s: version does not change", name)
		}
	}
	if c.WithoutKeyspace("a").WithoutKeyspace("b").Version() != empty.Version() {
		t.Error("without user keyspaces the version is not the empty one's")
	}
}

func decode(t *testing.T, r schema.Records) *schema.Catalog {
	t.Helper()
	c, err := schema.Decode(r, &schema.Keyspace{Name: "system"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Replicas are counted wherever a keyspace joins a catalog.
func TestReplicas(t *testing.T) {
	k := &schema.Keyspace{Name: "k", Replication: map[string]string{
		"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc1": "3", "dc2": "2",
	}, Tables: map[string]*schema.Table{}}
	c := schema.New(&schema.Keyspace{Name: "system", Replication: map[string]string{
		"class": "org.apache.cassandra.locator.LocalStrategy",
	}}).WithKeyspace(k)
	decoded, err := schema.Decode(schema.Encode(c))
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]int{
		"added": c.Keyspace("k").Replicas(), "decoded": decoded.Keyspace("k").Replicas(),
	} {
		if got != 5 {
			t.Errorf("%s: %d replicas, want 5", name, got)
		}
	}
	if got := c.Keyspace("system").Replicas(); got != 1 {
		t.Errorf("a local keyspace has %d replicas, want 1", got)
	}
}

// withTypes is sample with types b, which is made of a, and c, and table t of them.
func withTypes(t *testing.T) *schema.Catalog {
	a := &types.UserType{Keyspace: "a", Name: "a", Fields: []types.Field{{Name: "x", Type: types.Int}}}
	b := &types.UserType{Keyspace: "a", Name: "b", Fields: []types.Field{
		{Name: "l", Type: &types.List{Elem: types.Freeze(a)}}, {
			Name: "v",
			Type: &types.Vector{Elem: types.Freeze(a), Dim: 1},
		},
	}}
	c := &types.UserType{Keyspace: "a", Name: "A b", Fields: []types.Field{{Name: "from", Type: types.Text}}}
	return sample(t).WithType(a).WithType(b).WithType(c).WithTable(newTable("a", "v",
		column("k", types.Int, schema.PartitionKey),
		column("b", types.Freeze(b), schema.Regular),
		column("m", &types.Map{Key: types.Int, Value: types.Freeze(a)}, schema.Regular),
		column("v", &types.Vector{Elem: a, Dim: 2}, schema.Regular)))
}

// A changed type is changed wherever it is used, but in vectors.
func TestWithType(t *testing.T) {
	c := withTypes(t)
	before := c.Version()
	old := c.Table("a", "v")
	changed := *c.Type("a", "a")
	changed.Fields = append(changed.Fields[:1:1], types.Field{Name: "y", Type: types.Text})
	c = c.WithType(&changed)
	const (
		one  = "org.apache.cassandra.db.marshal.UserType(a,61,78:org.apache.cassandra.db.marshal.Int32Type"
		text = ",79:org.apache.cassandra.db.marshal.UTF8Type)"
	)
	table := c.Table("a", "v")
	for name, want := range map[string]bool{"b": true, "m": true, "v": false} {
		class := types.ExactClassName(table.Column(name).Type)
		if strings.Contains(class, one+text) != want || table.Column(name).ID != old.Column(name).ID {
			t.Errorf("column %s has type %s", name, class)
		}
	}
	b := c.Type("a", "b")
	if class := b.ClassName(); strings.Count(class, one+text) != 1 || strings.Count(class, one+")") != 1 || b.Frozen {
		t.Errorf("type b is %s", class)
	}
	if c.Version() == before || c.Table("a", "u") != c.Keyspace("a").Tables["u"] {
		t.Error("the version is as before")
	}
	if got := c.WithoutType("a", "A b"); got.Type("a", "A b") != nil || got.Type("a", "a") == nil ||
		got.Version() == c.Version() {
		t.Error("WithoutType removed something else")
	}
	if c.WithoutType("a", "nope") != c || c.Type("nope", "a") != nil {
		t.Error("found a type that does not exist")
	}
}

// Types are shown by name, or each behind those that it is made of.
func TestTypeOrder(t *testing.T) {
	k := withTypes(t).WithType(&types.UserType{Keyspace: "a", Name: "0", Fields: []types.Field{
		{Name: "t", Type: &types.Tuple{Elems: []types.Type{types.Freeze(withTypes(t).Type("a", "b"))}}},
	}}).Keyspace("a")
	names := func(all []*types.UserType) (s string) {
		for _, u := range all {
			s += u.Name + ";"
		}
		return s
	}
	if got := names(k.SortedTypes()); got != "0;A b;a;b;" {
		t.Errorf("by name %s", got)
	}
	if got := names(k.TypesByUse()); got != "a;b;0;A b;" {
		t.Errorf("by use %s", got)
	}
	if got := schema.TypeCQL(k.Types["A b"]); got != "CREATE TYPE a.\"A b\" (\n    \"from\" text\n);" {
		t.Error(got)
	}
}
