package main

import "strings"

// definitionsFamily makes tables, most of which are wrong in some way, and reads their definitions.
var definitionsFamily = &family{
	name: "definitions", statements: 60,
	productions: []production{
		{"create", 50, (*gen).createAny},
		{"mutated", 40, func(g *gen) *step { return g.mutate(g.createAny()) }},
		{"options", 30, (*gen).createWithOptions},
		{"describe", 10, (*gen).describe},
		{"drop", 4, (*gen).drop},
		{"keyspace", 10, (*gen).keyspace},
	},
}

// badTypes are types that no column may have, or not everywhere.
var badTypes = []string{
	"nope", "list<int>", "counter", "frozen<int>", "frozen<nope>", "list<counter>", "vector<int, 0>", "vector<int, -1>", "vector<text>",
	"tuple<>", "map<int>", "set<duration>", "frozen<set<duration>>", "frozen<map<duration, int>>", "frozen<list<duration>>", "frozen<tuple<int>>",
	"duration", "set<list<int>>", "list<frozen<list<int>>>", "map<text, list<int>>", "tuple<list<int>, int>", "'BytesType'", "'nope'",
	"'org.apache.cassandra.db.marshal.Int32Type'", "vector<float, 9000>", "frozen<vector<int, 2>>", "varchar", "empty", "frozen",
	"frozen<list<nope>>", "ks.nope", "INT", `"int"`, "date<int>", "vector<duration, 2>", "tuple<duration>", "frozen<list<counter>>",
}

// createAny makes a table, often with something wrong.
func (g *gen) createAny() *step {
	t := g.makeTable(shape{3, 3, 2, 4, keyType, anyType})
	g.table = t
	name := "t" + itoa(g.IntN(4))
	root := g.create(name, t)
	definitions := root.kids[1]
	for range g.IntN(3) {
		i := g.IntN(len(definitions.kids) - 1)
		old := definitions.kids[i]
		switch g.IntN(7) {
		case 0, 1:
			n, _, _ := strings.Cut(old.text, " ")
			definitions.kids[i] = of(old.column, words(n+" "+pick(g, badTypes)))
		case 2:
			definitions.kids[i] = of(old.column, words(old.text+" STATIC"))
		case 3:
			definitions.kids = append(definitions.kids, words(old.text))
		case 4:
			definitions.kids[i] = g.opt(words("x int"))
		case 5:
			definitions.kids[i] = of(old.column, words(old.text+" PRIMARY KEY"))
		case 6:
			definitions.kids[len(definitions.kids)-1] = words(pick(g, []string{
				"PRIMARY KEY (nope)", "PRIMARY KEY (p0, nope)", "PRIMARY KEY ((p0, p0))", "PRIMARY KEY (p0, p0)", "PRIMARY KEY (p0)",
				"PRIMARY KEY ()", "PRIMARY KEY ((p0), v0)", "PRIMARY KEY (p0, c0), PRIMARY KEY (p0)", "z int", "PRIMARY KEY ((p0), s0)",
			}))
		}
	}
	for _, kid := range definitions.kids {
		if kid.part == 0 {
			g.opt(kid)
		}
	}
	if g.percent(10) {
		root.kids = append(root.kids, words(pick(g, []string{
			" WITH CLUSTERING ORDER BY (c0)", " WITH CLUSTERING ORDER BY (c1 DESC)", " WITH CLUSTERING ORDER BY (v0 ASC)",
			" WITH CLUSTERING ORDER BY (c0 ASC, c0 DESC)", " WITH CLUSTERING ORDER BY (c1, c0)", " AND comment = 'x'", ";;", " WITH",
		})))
	}
	return &step{kind: definition, root: root}
}

// optionValues are options of tables with values, right and wrong.
var optionValues = []string{
	"comment = 'x'", "comment = ''", "comment = 1", "gc_grace_seconds = 0", "gc_grace_seconds = -1", "gc_grace_seconds = 'x'",
	"default_time_to_live = 0", "default_time_to_live = 630720000", "default_time_to_live = 630720001", "default_time_to_live = -1",
	"bloom_filter_fp_chance = 0.5", "bloom_filter_fp_chance = 0", "bloom_filter_fp_chance = 1", "bloom_filter_fp_chance = 1.1",
	"bloom_filter_fp_chance = 0.0000001", "crc_check_chance = 0.5", "crc_check_chance = 2", "crc_check_chance = -1", "cdc = true",
	"cdc = 'x'", "cdc = 1", "compaction = {'class': 'LeveledCompactionStrategy'}", "compaction = {'class': 'nope'}", "compaction = {}",
	"compaction = {'class': 'SizeTieredCompactionStrategy', 'min_threshold': 1}",
	"compaction = {'class': 'SizeTieredCompactionStrategy', 'min_threshold': 5, 'max_threshold': 3}",
	"compaction = {'class': 'SizeTieredCompactionStrategy', 'nope': 1}", "compaction = {'enabled': 'false'}",
	"compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'DAYS', 'compaction_window_size': 2}",
	"compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'nope'}",
	"compaction = {'class': 'UnifiedCompactionStrategy', 'scaling_parameters': 'T4'}",
	"compaction = {'class': 'UnifiedCompactionStrategy', 'scaling_parameters': 'X'}", "compaction = 'x'",
	"compression = {'enabled': false}", "compression = {'class': 'ZstdCompressor'}", "compression = {'class': 'nope'}",
	"compression = {'class': 'LZ4Compressor', 'chunk_length_in_kb': 3}", "compression = {'class': 'LZ4Compressor', 'chunk_length_in_kb': 64}",
	"compression = {'sstable_compression': ''}", "compression = {'class': 'DeflateCompressor', 'nope': 1}", "compression = {}",
	"caching = {'keys': 'NONE'}", "caching = {'keys': 'x'}", "caching = {'rows_per_partition': 5}", "caching = {'rows_per_partition': -1}",
	"caching = {'nope': 1}", "caching = 'x'", "min_index_interval = 0", "min_index_interval = 64", "min_index_interval = 4096",
	"max_index_interval = 1", "max_index_interval = 4096", "memtable_flush_period_in_ms = 1", "memtable_flush_period_in_ms = -1",
	"speculative_retry = '50p'", "speculative_retry = '101p'", "speculative_retry = 'ALWAYS'", "speculative_retry = '10ms'",
	"speculative_retry = 'MIN(50p, 10ms)'", "speculative_retry = 'x'", "additional_write_policy = 'NEVER'", "additional_write_policy = '-1ms'",
	"read_repair = 'NONE'", "read_repair = 'BLOCKING'", "read_repair = 'x'", "nope = 1", "id = 'x'", "memtable = 'nope'", "memtable = 'default'",
	"allow_auto_snapshot = false", "incremental_backups = true", "extensions = {}", "extensions = {'a': '0x01'}", "comment = null", "comment = x",
	"dclocal_read_repair_chance = 0", "COMMENT = 'x'", "gc_grace_seconds = 1.5", "gc_grace_seconds = 99999999999", "crc_check_chance = 'x'",
}

// createWithOptions makes a table with options.
func (g *gen) createWithOptions() *step {
	options := list(" WITH ", " AND ", "")
	for range 1 + g.IntN(2) {
		options.kids = append(options.kids, g.opt(words(pick(g, optionValues))))
	}
	root := seq(words("CREATE TABLE t"+itoa(g.IntN(4))+" (p0 "+pick(g, scalars).String()+" PRIMARY KEY)"), options)
	return &step{kind: definition, root: root}
}

// describe describes a table that may exist, or all of them.
func (g *gen) describe() *step {
	table := "t" + itoa(g.IntN(4))
	return &step{kind: read, root: words(pick(g, []string{"DESCRIBE TABLE " + table, "desc " + table, "DESCRIBE TABLES"}))}
}

// drop drops a table that may exist.
func (g *gen) drop() *step {
	ifExists := g.opt(words("IF EXISTS "))
	if g.percent(50) {
		ifExists = words("")
	}
	return &step{kind: definition, root: seq(words("DROP TABLE "), ifExists, words("t"+itoa(g.IntN(4))))}
}

// replications are valid and invalid replications. The valid ones create nothing, because the keyspace exists.
var replications = []string{
	"{'class': 'SimpleStrategy', 'replication_factor': 1}", "{'class': 'SimpleStrategy'}", "{'class': 'nope'}", "{}", "1",
	"{'class': 'SimpleStrategy', 'replication_factor': 0}", "{'class': 'SimpleStrategy', 'replication_factor': 'x'}",
	"{'class': 'SimpleStrategy', 'replication_factor': -1}", "{'class': 'NetworkTopologyStrategy', 'nope': 1}",
	"{'class': 'NetworkTopologyStrategy', 'datacenter1': 1}", "{'class': 'NetworkTopologyStrategy'}", "{'replication_factor': 1}",
	"{'class': 'SimpleStrategy', 'replication_factor': 1, 'nope': 2}", "{'class': 'LocalStrategy'}", "{'class': 'EverywhereStrategy'}",
	"{'class': 'SimpleStrategy', 'replication_factor': '1/0'}", "{'class': 'SimpleStrategy', 'replication_factor': '2/1'}",
}

// keyspace makes a keyspace that exists.
func (g *gen) keyspace() *step {
	root := seq(words("CREATE KEYSPACE "), g.opt(words(pick(g, []string{"IF NOT EXISTS ", ""}))),
		words(pick(g, []string{"system", "system_auth"})+" WITH replication = "+pick(g, replications)),
		g.opt(words(pick(g, []string{"", " AND durable_writes = false", " AND durable_writes = 1", " AND nope = 1"}))))
	return &step{kind: definition, root: root}
}
