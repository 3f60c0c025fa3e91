package schema_test

import (
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// shapes are the tables whose DESCRIBE was recorded from Cassandra 5.0.8.
func shapes() []*schema.Table {
	const (
		pk, ck, static, regular = schema.PartitionKey, schema.Clustering, schema.Static, schema.Regular
	)
	table := func(name string, columns ...*schema.Column) *schema.Table {
		return newTable("shapes", name, columns...)
	}
	with := func(t *schema.Table, props ...schema.Property) *schema.Table {
		options, err := schema.ParseTableOptions(t.Options, props)
		if err != nil {
			panic(err)
		}
		spec := *t
		spec.Options = options
		return schema.NewTable(spec)
	}
	text := func(name, value string) schema.Property { return schema.Property{Name: name, Text: value} }
	mapping := func(name string, m map[string]string) schema.Property { return schema.Property{Name: name, Map: m} }

	k := column("k", types.Int, pk)
	v := column("v", types.Int, regular)
	b := column("b", types.Text, ck)
	b.Desc = true
	natives := []*schema.Column{k}
	for i, t := range []types.Type{
		types.ASCII, types.BigInt, types.Blob, types.Boolean, types.Date, types.Decimal, types.Double, types.Duration,
		types.Float, types.Inet, nil, types.SmallInt, types.Text, types.Time, types.Timestamp, types.TimeUUID,
		types.TinyInt, types.UUID, types.Text, types.VarInt,
	} {
		if t != nil { // the letter of the key
			natives = append(natives, column(string(rune('a'+i)), t, regular))
		}
	}
	words := []*schema.Column{k}
	for w := range strings.FieldsSeq(`add allow alter and apply asc authorize batch begin by columnfamily create
		delete desc describe drop entries execute from full grant if in index infinity insert into is keyspace limit
		materialized modify nan norecursive not null of on or order primary rename revoke select set table to token
		truncate unlogged update use using view where with true false p1y mbean schema static map vector key default
		unset mbeans replace cast distinct json`) {
		words = append(words, column(w, types.Int, regular))
	}
	integers := &types.List{Elem: types.Int}
	clus := table("clus", column("a", types.Int, pk), b, column("c", types.UUID, ck), column("s", types.Int, static),
		column("v", types.Text, regular))
	clus.ID = [16]byte{0x5b, 0xc5, 0x28, 0x02, 0xde, 0x25, 0x35, 0xed, 0xae, 0xab, 0x18, 0x8e, 0xec, 0xeb, 0xb0, 0x01}
	return []*schema.Table{
		table("single", k, column("v", types.Text, regular)),
		clus,
		table("comp", column("a", types.Int, pk), column("b", types.Int, pk), column("c", types.Int, ck)),
		table("compnock", column("a", types.Int, pk), column("b", types.Int, pk)),
		table("keyonly", column("a", types.Int, pk)),
		with(table("Quoted", column("Select", types.Int, pk), column("from", types.Text, ck),
			column(`a"b`, types.Int, regular), column("Ab", types.Int, static), column("token", types.Int, regular)),
			text("comment", "it's")),
		table("counters", k, column("c", types.Counter, regular)),
		table("colls", k, column("z", types.Int, regular), column("l", integers, regular),
			column("fl", &types.List{Elem: types.Int, Frozen: true}, regular),
			column("m", &types.Map{Key: types.Text, Value: &types.Set{Elem: types.Int, Frozen: true}}, regular),
			column("s", &types.Set{Elem: types.UUID}, regular),
			column("t", &types.Tuple{Elems: []types.Type{types.Int, types.Text}}, regular),
			column("v", &types.Vector{Elem: types.Float, Dim: 3}, regular), column("a", types.ASCII, regular)),
		with(table("opts", k, v), text("bloom_filter_fp_chance", "0.00007"),
			mapping("compaction", map[string]string{"class": "LeveledCompactionStrategy", "sstable_size_in_mb": "10"}),
			mapping("compression", map[string]string{}), mapping("caching", map[string]string{"keys": "NONE"}),
			text("cdc", "true"), text("default_time_to_live", "10"), text("gc_grace_seconds", "20"),
			text("speculative_retry", "MIN(50ms,99p)"), text("incremental_backups", "false"),
			text("allow_auto_snapshot", "false"), text("crc_check_chance", "0.5"), text("read_repair", "none"),
			text("comment", "x")),
		table("natives", natives...),
		table("statics", k, column("c", types.Int, ck), column("s2", types.Int, static), column("s1", integers, static),
			column("s0", types.Text, static), column("r1", types.Int, regular),
			column("r0", &types.Set{Elem: types.Int}, regular)),
		with(table("zstd", k, v), mapping("compression", map[string]string{
			"class": "ZstdCompressor", "compression_level": "5", "chunk_length_in_kb": "64",
		})),
		table("words", words...),
	}
}

func TestTableCQL(t *testing.T) {
	type record struct{ Table, Describe, Internals string }
	recorded := map[string]record{}
	for _, r := range readLines[record](t, "testdata/describe.jsonl") {
		recorded[r.Table] = r
	}
	tables := shapes()
	if len(tables) != len(recorded) {
		t.Errorf("%d tables are recorded, %d compared", len(recorded), len(tables))
	}
	for _, table := range tables {
		want := recorded[table.Name]
		if got := table.CQL(false); got != want.Describe {
			t.Errorf("%s\n%s\nwant\n%s", table.Name, got, want.Describe)
		}
		if table.Name != "clus" { // the ids of the others were drawn by chance
			continue
		}
		if got := table.CQL(true); got != want.Internals {
			t.Errorf("%s with internals\n%s\nwant\n%s", table.Name, got, want.Internals)
		}
	}
}
