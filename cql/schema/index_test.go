package schema_test

import (
	"slices"
	"testing"

	"github.com/cqld/cqld/cql/schema"
)

// indexed is the sample with indexes on a.t.
func indexed(t *testing.T) *schema.Catalog {
	c := sample(t)
	table := c.Table("a", "t").
		WithIndex(&schema.Index{Name: "t_z_idx", Targets: []schema.IndexTarget{{Column: "z"}}}).
		WithIndex(&schema.Index{
			Name: "Odd", Targets: []schema.IndexTarget{{Column: "A", Part: schema.IndexFull}}, Class: "SAI",
			Options: map[string]string{"normalize": "it's", "ascii": "true"},
		})
	return c.WithTable(table)
}

// Indexes are part of a table's content, and survive encoding; one that is dropped leaves nothing behind.
func TestIndexes(t *testing.T) {
	c, plain := indexed(t), sample(t)
	if c.Version() == plain.Version() {
		t.Error("indexes do not count in the version")
	}
	again := decode(t, schema.Encode(c))
	if again.Version() != c.Version() {
		t.Error("encoding changes indexes")
	}
	table := again.Table("a", "t")
	var texts []string
	for _, x := range table.Indexes {
		texts = append(texts, x.CQL(table))
	}
	want := []string{
		"CREATE INDEX t_z_idx ON a.t (z);",
		`CREATE CUSTOM INDEX "Odd" ON a.t (full("A")) USING 'SAI' WITH OPTIONS = {'ascii': 'true', 'normalize': 'it''s'};`,
	}
	if !slices.Equal(texts, want) {
		t.Errorf("got %q, want %q", texts, want)
	}
	if table.Index("Odd").Kind() != schema.SAI || table.Index("t_z_idx").Kind() != schema.LegacyIndex {
		t.Error("kinds are lost")
	}
	if on := table.IndexesOn("z"); len(on) != 1 || on[0].Name != "t_z_idx" {
		t.Errorf("indexes of z: %v", on)
	}
	table = table.WithoutIndex("Odd").WithoutIndex("t_z_idx")
	if again.WithTable(table).Version() != plain.Version() {
		t.Error("dropped indexes are still there")
	}
}

// Names that indexes are given leave out what is not part of a word, and are counted when they are taken.
func TestNewIndexName(t *testing.T) {
	k := indexed(t).Keyspace("a")
	for _, test := range []struct{ table, column, want string }{
		{"t", "z", "t_z_idx_1"},
		{"t", "é b", "t_b_idx"},
		{"u", "Z", "u_Z_idx"},
	} {
		if got := k.NewIndexName(test.table, []schema.IndexTarget{{Column: test.column}}); got != test.want {
			t.Errorf("%s (%s): got %s, want %s", test.table, test.column, got, test.want)
		}
	}
	if got := k.NewIndexName("t", nil); got != "t_idx" {
		t.Errorf("without a column: %s", got)
	}
}
