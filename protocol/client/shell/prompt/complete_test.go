package prompt

import (
	"slices"
	"strings"
	"testing"
)

// shop is a schema to complete from.
var shop = &names{
	keyspaces: []string{"shop", "system", "Mixed"},
	tables:    map[string][]string{"shop": {"hotels", "hotel_rooms", "Guests"}, "system": {"local", "peers"}},
	columns: map[[2]string][]string{
		{"shop", "hotels"}: {"city", "id", "rooms"}, {"shop", "Guests"}: {"name"}, {"system", "local"}: {
			"key",
			"tokens",
		},
	},
	keys: map[[2]string][]string{{"shop", "hotels"}: {"city", "id"}},
	columnTypes: map[[3]string]string{
		{"shop", "hotels", "city"}: "text", {"shop", "hotels", "id"}: "int", {"shop", "hotels", "rooms"}: "frozen<list<int>>",
	},
	types:   map[string][]string{"shop": {"address"}},
	indexes: map[string][]string{"shop": {"hotels_rooms"}},
	views:   map[string][]string{"shop": {"hotel_rooms"}},
	roles:   []string{"cassandra", "app"},
}

func TestWords(t *testing.T) {
	for _, test := range []struct {
		before, after string
		want          string // words that are offered; a word after ! must not be
	}{
		{"SEL", "", "SELECT"},
		{"sel", "", "select !SELECT"},
		{"DESC", "", "DESCRIBE"},
		{"CONSI", "", "CONSISTENCY"},
		{"SELECT * FROM ho", "", "hotels hotel_rooms"},
		{"SELECT * FROM gu", "", "\"Guests\""},
		{"SELECT * FROM s", "", "shop. system."},
		{"SELECT * FROM system.", "", "local peers !hotels"},
		{"SELECT * FROM system.lo", "", "local"},
		{"SELECT * FROM \"Gu", "", `"Guests"`},
		{"SELECT r", " FROM hotels", "rooms !name"},
		{"SELECT * FROM hotels WHERE ", "", "city id rooms !tokens"},
		{"SELECT * FROM hotels WHERE city = 'x' ", "", "AND ORDER ALLOW LIMIT !FROM !SET"},
		{"SELECT * FROM hotels ORDER ", "", "BY !FROM"},
		{"SELECT * FROM hotels WHERE city = 'a;b' AND ro", "", "rooms"},
		{"SELECT 1; UPDATE ", "", "hotels"},
		{"UPDATE hotels SET ", "", "rooms"},
		{"INSERT INTO hotels (", "", "city id rooms"},
		{"INSERT INTO hotels ", "", "JSON"},
		{"BEGIN BATCH INSERT INTO hotels (id) VALUES (1) ; UPDATE ho", "", "hotels"},
		{"USE ", "", "shop system \"Mixed\""},
		{"CREATE ", "", "TABLE KEYSPACE INDEX TYPE MATERIALIZED ROLE !SELECT"},
		{"CREATE TABLE t (k ", "", "int text address frozen<"},
		{"CREATE TABLE t (k int PRIMARY ", "", "KEY"},
		{"CREATE TABLE t (k int PRIMARY KEY) WITH comp", "", "compaction compression"},
		{"ALTER TABLE hotels ADD x ti", "", "time timestamp timeuuid tinyint"},
		{"DROP TABLE IF ", "", "EXISTS"},
		{"DROP INDEX ", "", "hotels_rooms"},
		{"DROP TABLE IF EXISTS ho", "", "hotels"},
		{"DESCRIBE KEYSPACE s", "", "shop system"},
		{"DESC TABLE h", "", "hotels"},
		{"DESCRIBE ", "", "KEYSPACES TABLES CLUSTER hotels shop"},
		{"CONSISTENCY LOCAL_", "", "LOCAL_QUORUM LOCAL_ONE LOCAL_SERIAL"},
		{"SERIAL CONSISTENCY ", "", "SERIAL LOCAL_SERIAL !ONE"},
		{"TRACING ", "", "ON OFF TREE"},
		{"HELP sel", "", "SELECT"},
		{"LOGIN ", "", "app cassandra"},
		{"COPY ho", "", "hotels"},
		{"COPY hotels ", "", "TO FROM"},
		{"COPY hotels (ci", "", "city"},
		{"COPY hotels TO 'x' WITH PAGE", "", "PAGESIZE PAGETIMEOUT"},
		{"COPY hotels FROM 'x' WITH SKIP", "", "SKIPROWS SKIPCOLS"},
		{`\pl`, "", `\plan`},
		{`\plan SELECT * FROM ho`, "", "hotels"},
		{`\format j`, "", "json jsonl"},
		{"SELECT * FROM t WHERE a = 'sel", "", "!SELECT !select"},
	} {
		c := completer{names: shop, keyspace: "shop"}
		keep, words := c.words(test.before, test.after)
		if keep > len(test.before) {
			t.Fatalf("%q: %d bytes are replaced", test.before, keep)
		}
		for want := range strings.FieldsSeq(test.want) {
			word, not := strings.CutPrefix(want, "!")
			if slices.Contains(words, word) == not {
				t.Errorf("%q offers %q, want %s", test.before, words, want)
			}
		}
	}
}

// TestForced goes on with what has to follow, and says which value is expected.
func TestForced(t *testing.T) {
	for _, test := range []struct {
		before, after string
		keep          int
		want          []string // an empty word keeps the editor from inserting a hint
	}{
		{"INS", "", 3, []string{"INSERT INTO "}},
		{"CREATE MAT", "", 3, []string{"MATERIALIZED VIEW "}},
		{"INSERT INTO hotels (city, id)", "", 0, []string{" VALUES ( "}},
		{"INSERT INTO hotels (city, id", "", 2, []string{"id "}},
		{"INSERT INTO hotels (city, id ", "", 0, []string{")", ","}},
		{"INSERT INTO hotels (city, id) VALUES (", "", 0, []string{"<value for city (text)>", ""}},
		{"INSERT INTO hotels (city, id) VALUES ('x", "", 0, []string{"<value for city (text)>", ""}},
		{"INSERT INTO hotels (city, id) VALUES ('x', ", "", 0, []string{"<value for id (int)>", ""}},
		{"INSERT INTO hotels (city, rooms) VALUES ('x', ", "", 0, []string{"[ "}},
		{"UPDATE hotels SET id = ", "", 0, []string{"<term (int)>", ""}},
		{"UPDATE hotels ", "", 0, []string{"SET", "USING"}},
		{"UPDATE hotels US", "", 2, []string{"USING T"}},
		{"SEL", " x", 3, []string{"SELECT"}},
		{"SEL", "x", 3, []string{"SELECT "}},
		{"CREATE KEYSPACE ", "", 0, []string{"<identifier>", "<quotedName>", "IF", ""}},
		{"USE sh", "", 2, []string{"shop "}},
		{"DESCRIBE KEYSPACE sh", "", 2, []string{"shop "}},
		{"DESCRIBE KEYSPACE shop ", "", 0, []string{"WITH INTERNALS "}},
		{"INSERT INTO hotels (city, ro", "", 2, []string{"rooms "}},
		{"INSERT INTO hotels (city, id) VALUES ('x'", "", 0, []string{", "}},
		{"INSERT INTO hotels (city, id) VALUES ('x', 1) USING TTL 5 A", "", 1, []string{"AND TIMESTAMP "}},
		{"UPDATE hotels S", "", 1, []string{"SET rooms = [ "}},
		{"TRUNCATE h", "", 1, []string{"hotel_rooms", "hotels"}},
		{"TRUNCATE T", "", 1, []string{"TABLE "}},
		{"GRANT MODIFY PERMISSION, DROP O", "", 1, []string{"ON "}},
		{"GRANT MODIFY, M", "", 1, nil},
		{"DROP KEYSPACE I", "", 1, []string{"IF EXISTS "}},
		{"DROP KEYSPACE shop ", "", 0, []string{";", ""}},
		{"CREATE TABLE ", "", 0, []string{"\"Mixed\".", "<new_table_name>", "IF", "shop.", ""}},
		{"CREATE TABLE shop.", "", 0, []string{"<new_table_name>", ""}},
		{"CREATE TABLE t (", "", 0, []string{"<new_column_name>", "PRIMARY", ""}},
		{"CREATE TABLE t (k int PRIMARY KEY) WITH compaction = {'class': 'S", "", 1, []string{
			"SizeTieredCompactionStrategy'",
		}},
		{"CREATE TABLE t (compression int PRIMARY KEY) WITH comment = ", "", 0, []string{"<term>", ""}},
		{"CREATE KEYSPACE k WITH replication = {'class': '", "", 0, []string{"NetworkTopologyStrategy", "SimpleStrategy"}},
		{"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy'", "", 0, []string{", 'replication_factor': "}},
		{"CREATE KEYSPACE k WITH replication = {'class'", "", 0, []string{": '"}},
		{"UPDATE hotels SET rooms = [1] WHERE city = 'x' IF ", "", 0, []string{"EXISTS", "rooms"}},
		{"DELETE FROM hotels USING TIMESTAMP ", "", 0, []string{"<wholenumber>", ""}},
		{"ALTER TABLE hotels ADD ", "", 0, []string{"(", "<new_column_name>", "IF", ""}},
		{"SELECT * FROM missing WHERE ", "", 0, []string{"(", "<identifier>", "<quotedName>", "TOKEN", ""}},
		{"CREATE KEYSPACE k ", "", 0, []string{"WITH replication = {'class': '"}},
		{"CREATE KEYSPACE k WITH replication = {'class': 'Sim", "", 3, []string{"SimpleStrategy'"}},
		{"SHOW SESSION ", "", 0, []string{"<uuid>", ""}},
	} {
		c := completer{names: shop, keyspace: "shop"}
		if keep, words := c.complete(test.before, test.after); keep != test.keep || !slices.Equal(words, test.want) {
			t.Errorf("%q becomes %d, %q; want %d, %q", test.before, keep, words, test.keep, test.want)
		}
	}
}

// TestPlaces completes at many places of statements and commands; the text before the cursor is kept.
func TestPlaces(t *testing.T) {
	c := completer{names: shop, keyspace: "shop"}
	for _, statement := range []string{
		"CREATE TABLE shop.t (k int, \"C\" frozen<map<text, int>>, PRIMARY KEY (k)) WITH compaction = {'class': 'x'};",
		"SELECT a, sum(b) FROM shop.hotels WHERE city = 'it''s' AND id IN (1, 2) ORDER BY id DESC LIMIT 3;",
		"INSERT INTO hotels (id) VALUES ('a b c d e') USING TTL 5 AND TIMESTAMP 6;",
		"GRANT ALL PERMISSIONS ON shop.t TO x",
		"BEGIN BATCH INSERT INTO hotels (id) VALUES (1) ; UPDATE hotels SET rooms[1] = {2: 'x'} WHERE city = $$;$$",
		"COPY shop.hotels (city, id) FROM 'x' WITH HEADER = true", "\\plan SELECT 1",
		"DESC TABLE \"Guests\".", "?", "; ;", "'", "\"",
	} {
		for at := range len(statement) + 1 {
			if at%7 != 0 && at < len(statement)-1 {
				continue
			}
			if keep, _ := c.complete(statement[:at], ""); keep > at || strings.ContainsAny(statement[at-keep:at], " ;(") {
				t.Errorf("%q: the last %d bytes are replaced", statement[:at], keep)
			}
		}
	}
}

// TestFiles completes the names of files.
func TestFiles(t *testing.T) {
	t.Chdir("testdata")
	c := completer{names: shop}
	if keep, words := c.words("SOURCE 'fi", ""); keep != 2 || !slices.Equal(words, []string{"file.cql'"}) {
		t.Errorf("%d, %q", keep, words)
	}
	if keep, words := c.words("COPY t FROM 'fol", ""); keep != 3 || !slices.Equal(words, []string{"folder/"}) {
		t.Errorf("%d, %q", keep, words)
	}
}
