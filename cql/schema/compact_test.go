package schema_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// compactTable is a table WITH COMPACT STORAGE that was declared with columns.
func compactTable(name string, declared ...*schema.Column) *schema.Table {
	spec := schema.Table{Keyspace: "a", Name: name, ID: [16]byte{byte(len(name))}, Options: schema.DefaultTableOptions()}
	spec.Columns, spec.Compact = schema.CompactColumns(declared)
	return schema.NewTable(spec)
}

// compactTables are of all kinds.
func compactTables() []*schema.Table {
	key := column("k", types.Int, schema.PartitionKey)
	first, second := column("c", types.Int, schema.Clustering), column("d", types.Int, schema.Clustering)
	return []*schema.Table{
		compactTable("s", key, column("v", types.Int, schema.Regular)),
		compactTable("sn", key, column("column1", types.Counter, schema.Regular),
			column("value", types.Counter, schema.Regular)),
		compactTable("den", key, first, column("v", types.Int, schema.Regular)),
		compactTable("keys", key, first, second),
	}
}

// Some columns of tables WITH COMPACT STORAGE cannot be seen, until it is dropped.
func TestCompactColumns(t *testing.T) {
	for i, want := range []struct {
		all, shown, flags []string
		keeps             string
	}{
		{[]string{"k", "column1", "v", "value"}, []string{"k", "v"}, nil, "value"},
		{
			[]string{"k", "column2", "column1", "value", "value1"},
			[]string{"k", "column1", "value"},
			[]string{"counter"},
			"value1",
		},
		{[]string{"k", "c", "v"}, []string{"k", "c", "v"}, []string{"dense"}, "v"},
		{[]string{"k", "c", "d", "value"}, []string{"k", "c", "d"}, []string{"compound", "dense"}, "value"},
	} {
		table := compactTables()[i]
		if got := names(table.Columns); !slices.Equal(got, want.all) {
			t.Errorf("%s has the columns %v, want %v", table.Name, got, want.all)
		}
		if got := names(table.Shown()); !slices.Equal(got, want.shown) {
			t.Errorf("%s shows the columns %v, want %v", table.Name, got, want.shown)
		}
		if got := table.Flags(); !slices.Equal(got, want.flags) {
			t.Errorf("%s has the flags %v, want %v", table.Name, got, want.flags)
		}
		if got := table.KeepsRows().Name; got != want.keeps {
			t.Errorf("%s keeps rows by %s, want %s", table.Name, got, want.keeps)
		}
		plain := table.WithoutCompactStorage()
		if got := names(plain.Shown()); !slices.Equal(got, want.all) || plain.KeepsRows() != nil || plain.SameAs(table) {
			t.Errorf("%s shows the columns %v without COMPACT STORAGE, want %v", table.Name, got, want.all)
		}
	}
}

func names(columns []*schema.Column) (names []string) {
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}

// What kind of COMPACT STORAGE a table has survives an encoding, and kinds that a table cannot have are refused.
func TestEncodeCompact(t *testing.T) {
	c := sample(t)
	for _, table := range compactTables() {
		c = c.WithTable(table)
	}
	r := schema.Encode(c)
	again := decode(t, r)
	if again.Version() != c.Version() || !reflect.DeepEqual(schema.Encode(again), r) {
		t.Error("a decoded catalog is another one")
	}
	for _, table := range compactTables() {
		if got := again.Table("a", table.Name); got.Compact != table.Compact || got.CQL(true) != table.CQL(true) {
			t.Errorf("decoded\n%s\nwant\n%s", got.CQL(true), table.CQL(true))
		}
	}
	for _, kind := range []schema.Compact{schema.CompactDense, schema.CompactDense + 1} {
		plain := schema.NewTable(schema.Table{
			Keyspace: "a", Name: "odd", Columns: []*schema.Column{column("k", types.Int, schema.PartitionKey)},
			Options: schema.DefaultTableOptions(), Compact: kind,
		})
		if _, err := schema.Decode(schema.Encode(sample(t).WithTable(plain))); err == nil {
			t.Errorf("a table without clustering columns is taken with COMPACT STORAGE of kind %d", kind)
		}
	}
}
