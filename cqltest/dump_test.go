package cqltest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// scalars are literals of every type without others in it, from the ends of what it holds.
var scalars = map[string][]string{
	"ascii":     {"''", "'it''s'"},
	"bigint":    {"-9223372036854775808", "9223372036854775807"},
	"blob":      {"0x", "0x00ff"},
	"boolean":   {"true", "false"},
	"date":      {"'1970-01-01'", "'-5877641-06-23'", "'9999-12-31'", "blob_as_date(0xffffffff)"},
	"decimal":   {"0", "-1.50", "blob_as_decimal(0xfffffe7001)", "123456789012345678901234567890.123456789"},
	"double":    {"0.0", "-0.0", "1.7976931348623157E308", "4.9E-324", "NaN", "Infinity", "-Infinity", "0.1"},
	"duration":  {"0s", "1y2mo3w4d5h6m7s8ms9us10ns", "-2mo1d"},
	"float":     {"0.1", "3.4028235E38", "NaN", "-Infinity"},
	"inet":      {"'127.0.0.1'", "'::1'", "'2001:db8::ff00:42:8329'"},
	"int":       {"-2147483648", "2147483647"},
	"smallint":  {"-32768", "32767"},
	"text":      {"''", "'Bär\n''quoted'' \"text\"; -- no comment'", "'😀'"},
	"time":      {"'00:00:00'", "'23:59:59.999999999'"},
	"timestamp": {"'2024-02-29T12:34:56.789Z'", "-62135596800001", "253402300800000", "9223372036854775807", "0"},
	"timeuuid":  {"50554d6e-29bb-11e5-b345-feff819cdc9f"},
	"tinyint":   {"-128", "127"},
	"uuid":      {"123e4567-e89b-42d3-a456-426614174000"},
	"varint":    {"0", "-1", "123456789012345678901234567890"},
}

// TestDump loads dumps of rows with every type, alone and in collections, user types, tuples and vectors, of static
// rows, counters and rows without markers: what is loaded has the same dump, also with timestamps and TTLs.
func TestDump(t *testing.T) {
	s := RunT(t)
	s.Clock().Freeze()
	s.Exec(t, createShop+`; USE shop;
		CREATE TYPE "Address" (street text, "Number" int, tags frozen<set<text>>);
		CREATE TYPE nested (home frozen<"Address">, at timestamp);
		CREATE TABLE visits (page text PRIMARY KEY, n counter, m counter);
		CREATE TABLE s (a int, b text, c int, d timeuuid, st text static, sl list<int> static, v text, PRIMARY KEY ((a, b), c, d))
			WITH CLUSTERING ORDER BY (c DESC, d ASC) AND comment = 'rows of all kinds';
		CREATE TABLE "Mixed" ("Key" int PRIMARY KEY, "select" text, l list<text>, st set<int>, m map<text, timestamp>,
			u "Address", n nested, fl frozen<list<list<int>>>, t tuple<int, text, frozen<map<int, text>>>, v vector<float, 3>,
			vt vector<text, 2>);
		CREATE TABLE keys (k int PRIMARY KEY);
		CREATE TABLE ttl (k int PRIMARY KEY, v int, w int) WITH default_time_to_live = 5000;
		CREATE INDEX ON "Mixed" ("select")`)
	for name, literals := range scalars {
		s.Exec(t, fmt.Sprintf(`CREATE TABLE t_%s (k int PRIMARY KEY, v %s, l list<%s>, f frozen<map<int, %s>>, tu tuple<%s, int>)`,
			name, name, name, name, name))
		if name != "duration" {
			s.Exec(t, fmt.Sprintf(`CREATE TABLE k_%s (p %s, c %s, s set<%s>, PRIMARY KEY (p, c))`, name, name, name, name))
		}
		for i, l := range literals {
			s.Exec(t, fmt.Sprintf("INSERT INTO t_%s (k, v, l, f, tu) VALUES (%d, %s, [%s, %s], {1: %s}, (%s, 1))",
				name, i, l, l, l, l, l))
			if name != "duration" && l != "''" && l != "0x" {
				s.Exec(t, fmt.Sprintf("INSERT INTO k_%s (p, c, s) VALUES (%s, %s, {%s})", name, l, l, l))
			}
		}
		if name != "duration" && name != "ascii" && name != "text" && name != "blob" && name != "tinyint" &&
			name != "smallint" && name != "date" && name != "time" {
			s.Exec(t, fmt.Sprintf("INSERT INTO t_%s (k, v, l) VALUES (100, blob_as_%s(0x), [blob_as_%s(0x)])", name, name, name))
		}
	}
	s.Exec(t, `
		UPDATE visits SET n = n + 5, m = m - 3 WHERE page = 'home';
		INSERT INTO s (a, b, st) VALUES (1, 'only static', 'x');
		INSERT INTO s (a, b, c, d, st, v) VALUES (1, 'b', 1, 50554d6e-29bb-11e5-b345-feff819cdc9f, 'static', 'v');
		UPDATE s SET sl = [1, 2] WHERE a = 1 AND b = 'b';
		UPDATE s SET v = 'no marker' WHERE a = 1 AND b = 'b' AND c = 2 AND d = 50554d6e-29bb-11e5-b345-feff819cdc9f;
		INSERT INTO keys (k) VALUES (1);
		INSERT INTO "Mixed" ("Key", "select", l, st, m, u, n, fl, t, v, vt) VALUES (1, 'x', ['a', 'b', 'a'], {3, 1}, {'k': 0},
			{street: 'S', "Number": 1, tags: {'t'}}, {home: {street: 'H'}, at: 5}, [[], [1]], (1, null, {2: 'two'}), [1, 2.5, -0.1],
			['', 'b']);
		UPDATE "Mixed" USING TTL 100 SET l = l + ['c'], st = st + {9}, m['later'] = 7, u.street = 'T' WHERE "Key" = 1;
		UPDATE "Mixed" USING TIMESTAMP 5 SET "select" = 'early' WHERE "Key" = 2;
		UPDATE "Mixed" USING TIMESTAMP 7 AND TTL 50 SET fl = [[5]], t = (2, 'b', null) WHERE "Key" = 2;
		INSERT INTO ttl (k, v) VALUES (1, 1);
		INSERT INTO ttl (k, v) VALUES (2, 1) USING TTL 0;
		UPDATE ttl USING TTL 0 SET w = 2 WHERE k = 1;
		DELETE FROM keys WHERE k = 2;
		INSERT INTO keys (k) VALUES (3) USING TTL 1`)
	s.Clock().Advance(2 * time.Second)
	for _, options := range [][]DumpOption{
		nil, {DumpTTLs}, {DumpTTLs, DumpTimestamps},
	} {
		dump := s.Dump(t, options...)
		loaded := RunT(t)
		loaded.Clock().Freeze()
		loaded.Clock().Set(s.Clock().Now())
		loaded.Exec(t, dump)
		if again := loaded.Dump(t, options...); again != dump {
			t.Errorf("%v: what was loaded differs:\n%s", options, s.Diff(t, loaded, options...))
		}
	}
	dump := s.Dump(t, DumpNoSchema)
	for _, want := range []string{
		"INSERT INTO shop.keys (k) VALUES (1)", "UPDATE shop.visits SET n = n + 5 WHERE page = 'home';",
		"SET v = 'no marker' WHERE", "blob_as_int(0x)", "SET st = 'x' WHERE a = 1 AND b = 'only static';",
	} {
		if !strings.Contains(dump, want) {
			t.Errorf("%q is not in the dump:\n%s", want, dump)
		}
	}
	if dump := s.Dump(t, DumpTTLs, DumpNoSchema); !strings.Contains(dump, " USING TTL 98 SET m['later'] = ") ||
		!strings.Contains(dump, "VALUES (2, 1) USING TTL 0;") || strings.Contains(dump, "CREATE") {
		t.Errorf("the dump is\n%s", dump)
	}
}

// TestDumpOfCompactTables loads tables that were made WITH COMPACT STORAGE.
func TestDumpOfCompactTables(t *testing.T) {
	s := RunT(t)
	s.Exec(t, createShop+`; USE shop;
		CREATE TABLE st (k int PRIMARY KEY, v text, w int) WITH COMPACT STORAGE;
		CREATE TABLE de (k int, c int, v text, PRIMARY KEY (k, c)) WITH COMPACT STORAGE;
		CREATE TABLE ke (k int, c int, PRIMARY KEY (k, c)) WITH COMPACT STORAGE;
		INSERT INTO st (k, v, w) VALUES (1, 'a', 2); INSERT INTO st (k, v) VALUES (2, 'b');
		INSERT INTO de (k, c, v) VALUES (1, 1, 'a'); INSERT INTO ke (k, c) VALUES (1, 1)`)
	loaded := RunT(t)
	loaded.Exec(t, s.Dump(t))
	if diff := s.Diff(t, loaded); diff != "" {
		t.Error(diff)
	}
	for _, table := range []string{"st", "de", "ke"} {
		if a, b := len(s.Query(t, "SELECT * FROM shop."+table).Values), len(loaded.Query(t, "SELECT * FROM shop."+table).Values); a == 0 || a != b {
			t.Errorf("%s has %d rows, %d were loaded", table, a, b)
		}
	}
}

// TestDiff compares servers that differ in a row, a value and a definition.
func TestDiff(t *testing.T) {
	a := RunT(t)
	if dump := a.Dump(t); dump != "" {
		t.Errorf("the dump of an empty server is %q", dump)
	}
	a.Exec(t, createShop, "CREATE TABLE shop.t (k int PRIMARY KEY, v int)", "INSERT INTO shop.t (k, v) VALUES (1, 1)",
		"INSERT INTO shop.t (k, v) VALUES (2, 2)")
	b := a.Fork(t)
	if diff := a.Diff(t, b); diff != "" {
		t.Errorf("a fork differs:\n%s", diff)
	}
	b.Exec(t, "UPDATE shop.t SET v = 3 WHERE k = 2", "DELETE FROM shop.t WHERE k = 1", "CREATE TYPE shop.u (x int)")
	want := `- INSERT INTO shop.t (k, v) VALUES (1, 1);
- INSERT INTO shop.t (k, v) VALUES (2, 2);
+ CREATE TYPE shop.u (
    x int
);
+ INSERT INTO shop.t (k, v) VALUES (2, 3);
`
	if diff := a.Diff(t, b); diff != want {
		t.Errorf("the difference is\n%swant\n%s", diff, want)
	}
}
