package schema_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// altered is a table with columns that were dropped, of which some are there again, and masks.
func altered(t *testing.T) *schema.Table {
	t.Helper()
	user := &types.UserType{Keyspace: "a", Name: "u", Frozen: true, Fields: []types.Field{{Name: "x", Type: types.Int}}}
	table := newTable("a", "alt",
		column("k", types.Int, schema.PartitionKey), column("c", types.Int, schema.Clustering),
		column("s", types.Text, schema.Static), column("v", types.Int, schema.Regular),
		column("u", user, schema.Regular), column("w", types.Text, schema.Regular),
		column("l", &types.List{Elem: types.Text}, schema.Regular))
	mask := &schema.Mask{Keyspace: "system", Function: "mask_inner", Args: []schema.MaskArg{
		{Type: types.Int, Value: types.EncodeInt(1)}, {Type: types.Int}, {Type: types.Text, Value: []byte{}},
	}}
	table = table.WithMask("w", mask).WithMask("v", &schema.Mask{Keyspace: "system", Function: "mask_default"})
	table = table.WithoutColumns([]string{"v"}, 1500).WithoutColumns([]string{"w", "u"}, -1500).
		WithoutColumns([]string{"l"}, math.MaxInt64)
	masked := column("v", types.Int, schema.Regular)
	masked.Mask = mask
	return table.WithColumns([]*schema.Column{masked, column("l", &types.List{Elem: types.Blob}, schema.Regular)})
}

// What was dropped and what is masked survives an encoding.
func TestEncodeDropped(t *testing.T) {
	c := sample(t).WithTable(altered(t))
	r := schema.Encode(c)
	again := decode(t, r)
	if again.Version() != c.Version() || !reflect.DeepEqual(schema.Encode(again), r) {
		t.Error("a decoded catalog is another one")
	}
	got, want := again.Table("a", "alt").CQL(true), c.Table("a", "alt").CQL(true)
	if got != want {
		t.Errorf("decoded\n%s\nwant\n%s", got, want)
	}
}

// DESCRIBE shows columns that were dropped where a Java hash map has them, and statements that lead to the table.
func TestDescribeDropped(t *testing.T) {
	text := altered(t).CQL(true)
	definitions, rest, _ := strings.Cut(text, "\n) WITH ")
	_, statements, _ := strings.Cut(rest, ";\n")
	const wantDefinitions = `CREATE TABLE a.alt (
    k int,
    c int,
    s text static,
    l list<text>,
    u frozen<tuple<int>>,
    v int MASKED WITH system.mask_default(),
    w text MASKED WITH system.mask_inner(1, null, ''),
    PRIMARY KEY (k, c)`
	const wantStatements = `ALTER TABLE a.alt DROP l USING TIMESTAMP 9223372036854775807;
ALTER TABLE a.alt ADD l list<blob>;
ALTER TABLE a.alt DROP u USING TIMESTAMP -1500;
ALTER TABLE a.alt DROP v USING TIMESTAMP 1500;
ALTER TABLE a.alt ADD v int MASKED WITH system.mask_inner(1, null, '');
ALTER TABLE a.alt DROP w USING TIMESTAMP -1500;`
	if definitions != wantDefinitions || statements != wantStatements {
		t.Errorf("%s\n%s", definitions, statements)
	}
	if strings.Contains(altered(t).CQL(false), "DROP") {
		t.Error("what was dropped is shown without INTERNALS")
	}
}

// Cells are lost of columns that are gone, up to the time of the drop, and of numbers that no column can get again.
func TestLost(t *testing.T) {
	table := altered(t)
	none := newTable("a", "none", column("k", types.Int, schema.PartitionKey), column("v", types.Int, schema.Regular))
	if none.Loses() || !table.Loses() {
		t.Error("a table loses cells that never lost a column")
	}
	of := func(name string) uint32 { return table.Column(name).ID }
	tests := map[string]struct {
		id   uint32
		upTo int64
		some bool
	}{
		"key":                          {of("k"), 0, false},
		"never dropped":                {of("s"), 0, false},
		"there again":                  {of("v"), 1500, true},
		"there again in another form":  {of("l"), math.MaxInt64, true},
		"gone":                         {table.DroppedColumn("w").ID, -1500, true},
		"was there in another form":    {table.DroppedColumn("l").ID, math.MaxInt64, true},
		"of a column still to be made": {table.NextID, 0, false},
	}
	for name, test := range tests {
		if upTo, some := table.Lost(test.id); upTo != test.upTo || some != test.some {
			t.Errorf("%s: lost up to %d, %t", name, upTo, some)
		}
	}
	if of("v") != table.DroppedColumn("v").ID || of("l") == table.DroppedColumn("l").ID {
		t.Error("columns get the wrong numbers")
	}
}
