package main

// alterationsFamily changes tables, writes rows with timestamps before and after the times at which columns were
// dropped, and reads the rest.
var alterationsFamily = &family{
	name: "alterations", statements: 60,
	productions: []production{
		{"create", 12, (*gen).createAltered},
		{"add", 22, (*gen).addColumns},
		{"drop", 18, (*gen).dropColumns},
		{"rename", 6, (*gen).renameColumns},
		{"options", 6, func(g *gen) *step { return g.alter(words(" WITH " + pick(g, optionValues))) }},
		{"mask", 4, (*gen).maskColumn},
		{"mutated", 6, func(g *gen) *step { return g.mutate(g.addColumns()) }},
		{"keyspace", 4, (*gen).alterKeyspace},
		{"write", 40, (*gen).writeAltered},
		{"select", 25, func(g *gen) *step { return &step{kind: read, root: words("SELECT * FROM " + g.alteredName())} }},
		{"describe", 5, func(g *gen) *step { return &step{kind: read, root: words("DESCRIBE TABLE " + g.alteredName())} }},
	},
}

// alteredNames are names of columns; the first two are of the key.
var alteredNames = []string{"k", "c", "v0", "v1", "v2", "s0", "l0", "m0"}

// alteredTypes are types that columns are added with, often not the one that a column had before.
var alteredTypes = []string{
	"int", "int", "int", "text", "text", "blob", "ascii", "bigint", "timestamp", "varint", "list<int>", "list<text>", "set<text>", "set<blob>",
	"map<int, text>", "frozen<list<text>>", "frozen<list<blob>>", "tuple<int, text>", "tuple<int>", "counter", "int static", "text static",
	"uuid", "timeuuid", "date", "vector<int, 2>", "nope", "int MASKED WITH DEFAULT", "text MASKED WITH mask_inner(1, 2)",
}

func (g *gen) alteredName() string { return "t" + itoa(g.IntN(3)) }

func (g *gen) alter(change *node) *step {
	ifExists := words("")
	if g.percent(10) {
		ifExists = g.opt(words("IF EXISTS "))
	}
	return &step{kind: definition, root: seq(words("ALTER TABLE "), ifExists, words(g.alteredName()), change)}
}

// createAltered makes one of the tables, if it is not there.
func (g *gen) createAltered() *step {
	columns := pick(g, []string{
		"k int, c int, v0 int, v1 text, s0 int static, l0 list<int>, m0 map<int, text>, PRIMARY KEY (k, c)",
		"k int, c int, v0 text, v1 set<text>, PRIMARY KEY (k, c)", "k int PRIMARY KEY, v0 int, v1 text, l0 list<text>",
		"k int, c int, v0 counter, v1 counter, PRIMARY KEY (k, c)",
	})
	verb := "CREATE TABLE IF NOT EXISTS "
	if g.percent(15) {
		verb = "DROP TABLE IF EXISTS "
		return &step{kind: definition, root: words(verb + g.alteredName())}
	}
	return &step{kind: definition, root: words(verb + g.alteredName() + " (" + columns + ")")}
}

// addColumns adds columns that were dropped, that exist, or that never existed.
func (g *gen) addColumns() *step {
	ifNot := words("")
	if g.percent(20) {
		ifNot = g.opt(words("IF NOT EXISTS "))
	}
	if g.percent(70) {
		return g.alter(seq(words(" ADD "), ifNot, words(pick(g, alteredNames)+" "+pick(g, alteredTypes))))
	}
	columns := list("(", ", ", ")", words(pick(g, alteredNames)+" "+pick(g, alteredTypes)))
	for range 1 + g.IntN(2) {
		columns.kids = append(columns.kids, g.opt(words(pick(g, alteredNames)+" "+pick(g, alteredTypes))))
	}
	return g.alter(seq(words(" ADD "), ifNot, columns))
}

// dropColumns drops columns with a timestamp before or after the writes, or without one.
func (g *gen) dropColumns() *step {
	columns := list("(", ", ", ")", words(pick(g, alteredNames)))
	for g.percent(30) {
		columns.kids = append(columns.kids, g.opt(words(pick(g, alteredNames))))
	}
	at := words("")
	if g.percent(70) {
		at = g.opt(words(" USING TIMESTAMP " + pick(g, []string{"5000", "5000", "2000", "-1", "9223372036854775807"})))
	}
	ifExists := words("")
	if g.percent(20) {
		ifExists = g.opt(words("IF EXISTS "))
	}
	return g.alter(seq(words(" DROP "), ifExists, columns, at))
}

// renameColumns renames columns of the key, and others.
func (g *gen) renameColumns() *step {
	renames := list(" RENAME ", " AND ", "", words(pick(g, alteredNames)+" TO "+pick(g, alteredNames)))
	for g.percent(30) {
		renames.kids = append(renames.kids, g.opt(words(pick(g, alteredNames)+" TO "+pick(g, []string{"k", "c", "x", "y", "v0"}))))
	}
	return g.alter(renames)
}

// maskColumn removes a mask, or tries to add one.
func (g *gen) maskColumn() *step {
	return g.alter(words(" ALTER " + pick(g, alteredNames) + pick(g, []string{
		" DROP MASKED", " DROP MASKED", " MASKED WITH DEFAULT", " TYPE text",
	})))
}

// alterKeyspace changes a system keyspace, which is refused, or a keyspace that does not exist.
func (g *gen) alterKeyspace() *step {
	return &step{kind: definition, root: seq(
		words("ALTER KEYSPACE "+pick(g, []string{"system", "nope_alterations", "IF EXISTS nope_alterations", "system_views"})+" WITH replication = "),
		words(pick(g, replications)), g.opt(words(pick(g, []string{"", " AND durable_writes = false", " AND durable_writes = 'x'", " AND nope = 1"}))))}
}

// writeAltered writes a row with a timestamp before or after the drops. Its columns may not exist.
func (g *gen) writeAltered() *step {
	names, values := list("(", ", ", ")", words("k")), list("(", ", ", ")", words(itoa(g.IntN(2))))
	if g.percent(80) {
		names.kids, values.kids = append(names.kids, words("c")), append(values.kids, words(itoa(g.IntN(3))))
	}
	literals := map[string][]string{
		"v0": {"1", "2", "'a'", "null"}, "v1": {"'a'", "'b'", "{'a', 'b'}", "3"}, "v2": {"5", "'x'"}, "s0": {"7", "8"},
		"l0": {"[1, 2]", "['a']", "[]"}, "m0": {"{1: 'a'}", "{2: 'b'}"},
	}
	name := pick(g, []string{"v0", "v1", "v2", "s0", "l0", "m0"})
	names.kids, values.kids = append(names.kids, words(name)), append(values.kids, words(pick(g, literals[name])))
	at := g.opt(words(" USING TIMESTAMP " + pick(g, []string{"1000", "2000", "4999", "5000", "5001", "8000"})))
	return &step{kind: write, root: seq(words("INSERT INTO "+g.alteredName()+" "), names, words(" VALUES "), values, at)}
}
