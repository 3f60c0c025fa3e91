package define

import (
	"testing"

	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/planner/scope"
)

// TestRefusedAtPrepare has what PREPARE says of definitions; "" is for those that it takes and EXECUTE refuses.
func TestRefusedAtPrepare(t *testing.T) {
	const (
		noClass = "error 2000: Error setting type nope: Unable to find abstract-type class " +
			"'org.apache.cassandra.db.marshal.nope'"
		noMask = "error 2200: Cannot mask columns because dynamic data masking is not enabled. You can enable it with the " +
			"dynamic_data_masking_enabled property on cassandra.yaml"
	)
	tests := []struct{ statement, want string }{
		{
			"CREATE TABLE nosuch.x (a int PRIMARY KEY) WITH caching = 'x'",
			"error 2000: Invalid value for property 'caching'. It should be a map.",
		},
		{
			"CREATE TABLE x (a int PRIMARY KEY) WITH compaction = {'class': 'nope'}",
			"error 2300: Unable to find compaction strategy class 'org.apache.cassandra.db.compaction.nope'",
		},
		{
			"CREATE TABLE x (a int PRIMARY KEY) WITH compression = {'class': 'LZ4Compressor', 'nope': 1}",
			"error 2300: Unknown compression options nope",
		},
		{"CREATE TABLE x (a int PRIMARY KEY, b list<'nope'>) WITH caching = 'x'", noClass},
		{"CREATE TABLE nosuch.x (a int PRIMARY KEY, b int MASKED WITH DEFAULT)", noMask},
		{"CREATE TABLE x (a int)", "error 2200: No PRIMARY KEY specifed for table 'x' (exactly one required)"},
		{"CREATE TABLE nosuch.x (a int PRIMARY KEY)", ""},
		{"CREATE TABLE system.x (a int PRIMARY KEY)", ""},
		{"CREATE TABLE x (a int PRIMARY KEY) WITH nope = 1", ""},
		{"CREATE TABLE x (a int PRIMARY KEY) WITH gc_grace_seconds = -1", ""},
		{"CREATE TABLE x (a int PRIMARY KEY) WITH id = 'x'", ""},
		{"CREATE TABLE x (a int PRIMARY KEY, b nope)", ""},
		{"CREATE TABLE x (a int, PRIMARY KEY (b))", ""},
		{"CREATE KEYSPACE x WITH replication = {'class': 'nope'}", ""},
		{"CREATE KEYSPACE x WITH nope = 1", ""},
		{"ALTER TABLE nosuch.x WITH gc_grace_seconds = 'x'", "error 2000: Invalid integer value x for 'gc_grace_seconds'"},
		{"ALTER TABLE x ALTER v MASKED WITH DEFAULT", noMask},
		{"ALTER TABLE x ADD v 'nope'", noClass},
		{"ALTER TABLE x ALTER v TYPE 'nope'", noClass},
		{"ALTER TABLE x ADD v int", ""},
		{"ALTER TABLE x ADD v int MASKED WITH nope()", ""},
		{"ALTER TABLE x WITH nope = 1", ""},
		{"ALTER TABLE x WITH gc_grace_seconds = -1", ""},
		{"ALTER TABLE local WITH id = 'x'", ""},
		{"ALTER TABLE system.local ADD v int", ""},
		{"ALTER TABLE local DROP v", ""},
		{"ALTER TABLE local RENAME v TO w", ""},
		{"ALTER TABLE local ALTER v TYPE text", ""},
		{"ALTER TABLE local DROP COMPACT STORAGE", ""},
		{"ALTER KEYSPACE x WITH nope = 1", ""},
		{"ALTER KEYSPACE x WITH durable_writes = 'x'", ""},
		{"ALTER KEYSPACE ks WITH replication = {'class': 'nope'}", ""},
		{"ALTER KEYSPACE system WITH durable_writes = true", ""},
		{"DROP TABLE nosuch.x", ""},
		{"DROP KEYSPACE system", ""},
	}
	c := catalog(t)
	for _, test := range tests {
		stmt, _, err := parser.Parse(test.statement)
		if err != nil {
			t.Fatal(test.statement, err)
		}
		p, err := Make(stmt, scope.New(c, "ks"), Env{})
		switch {
		case err != nil && errorText(err) != test.want:
			t.Errorf("%s\ngot:  %s\nwant: %s", test.statement, errorText(err), test.want)
		case err == nil && test.want != "":
			t.Errorf("%s: not refused", test.statement)
		}
		if err != nil || test.want != "" {
			continue
		}
		if _, _, err := p.(Definition).Apply(c, Run{NewID: [16]byte{1}}); err == nil {
			t.Errorf("%s: applied", test.statement)
		}
	}
}
