package system_test

import (
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// userTables defines what the recorded keyspace had.
func userTables(c *schema.Catalog) (*schema.Catalog, error) {
	const (
		pk, ck, static, regular = schema.PartitionKey, schema.Clustering, schema.Static, schema.Regular
	)
	k, _, err := schema.NewKeyspace("shapes", []schema.Property{
		{Name: "replication", Map: map[string]string{"class": "SimpleStrategy", "replication_factor": "1"}},
	}, schema.Placement{Datacenter: "datacenter1"})
	if err != nil {
		return nil, err
	}
	c = c.WithKeyspace(k)
	column := func(name string, t types.Type, kind schema.ColumnKind) *schema.Column {
		return &schema.Column{Name: name, Type: t, Kind: kind}
	}
	text := func(name, value string) schema.Property { return schema.Property{Name: name, Text: value} }
	mapping := func(name string, pairs ...string) schema.Property {
		m := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return schema.Property{Name: name, Map: m}
	}
	key, v := column("k", types.Int, pk), column("v", types.Int, regular)
	b := column("b", types.Text, ck)
	b.Desc = true
	for i, table := range []struct {
		name    string
		columns []*schema.Column
		props   []schema.Property
	}{
		{name: "clus", columns: []*schema.Column{
			column("a", types.Int, pk), b, column("c", types.UUID, ck), column("s", types.Int, static),
			column("v", types.Text, regular),
		}},
		{name: "Quoted", columns: []*schema.Column{
			column("Select", types.Int, pk), column("from", types.Text, ck), column(`a"b`, types.Int, regular),
			column("Ab", types.Int, static), column("token", types.Int, regular),
		}, props: []schema.Property{text("comment", "it's")}},
		{name: "counters", columns: []*schema.Column{key, column("c", types.Counter, regular)}},
		{name: "opts", columns: []*schema.Column{key, v}, props: []schema.Property{
			text("bloom_filter_fp_chance", "0.00007"), text("cdc", "true"), text("default_time_to_live", "10"),
			mapping("compaction", "class", "LeveledCompactionStrategy", "sstable_size_in_mb", "10"),
			mapping("compression"), mapping("caching", "keys", "NONE"), text("gc_grace_seconds", "20"),
			text("speculative_retry", "MIN(50ms,99p)"), text("incremental_backups", "false"),
			text("allow_auto_snapshot", "false"), text("crc_check_chance", "0.5"), text("read_repair", "none"),
			text("comment", "x"),
		}},
		{name: "statics", columns: []*schema.Column{
			key, column("c", types.Int, ck), column("s2", types.Int, static),
			column("s1", &types.List{Elem: types.Int}, static), column("s0", types.Text, static),
			column("r1", types.Int, regular), column("r0", &types.Set{Elem: types.Int}, regular),
		}},
		{name: "zstd", columns: []*schema.Column{key, v}, props: []schema.Property{
			mapping("compression", "class", "ZstdCompressor", "compression_level", "5", "chunk_length_in_kb", "64"),
		}},
	} {
		options, err := schema.ParseTableOptions(schema.DefaultTableOptions(), table.props)
		if err != nil {
			return nil, err
		}
		c = c.WithTable(schema.NewTable(schema.Table{
			Keyspace: "shapes", Name: table.name, ID: [16]byte{byte(i + 1)}, Columns: table.columns, Options: options,
		}))
	}
	return c, nil
}
