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
