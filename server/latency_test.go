package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
)

// Executions are counted by kind of statement and by table, however they come. A statement that is refused before it
// is executed has no time.
func TestStatementLatencies(t *testing.T) {
	s := cqltest.RunT(t)
	c := connect(t, s, client.Options{})
	run(t, c,
		createKeyspace,
		"CREATE TABLE ks.t (k int PRIMARY KEY, v text)",
		"CREATE TABLE ks.u (k int PRIMARY KEY, v text)",
		"CREATE MATERIALIZED VIEW ks.m AS SELECT * FROM ks.t WHERE k IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, k)",
		"SELECT * FROM ks.m",
		"UPDATE ks.t SET v = 'x' WHERE k = 1",
		"DELETE FROM ks.u WHERE k = 1",
		"TRUNCATE ks.u",
		"USE ks",
		"DESCRIBE TABLES",
		"SELECT key FROM system.local",
		"BEGIN BATCH INSERT INTO ks.t (k) VALUES (1); INSERT INTO ks.t (k) VALUES (2); APPLY BATCH",
		"BEGIN BATCH INSERT INTO ks.t (k) VALUES (1); INSERT INTO ks.u (k) VALUES (2); APPLY BATCH",
	)

	insert, err := c.Prepare(t.Context(), "INSERT INTO ks.t (k, v) VALUES (?, ?)", "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := c.Execute(t.Context(), insert, []types.Value{intValue(i), textValue("y")}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Execute(t.Context(), insert, nil, nil); err == nil {
		t.Error("an insert without values is executed")
	}
	ofT := protocol.BatchChild{Prepared: true, ID: insert.ID, Values: []types.Value{intValue(5), textValue("z")}}
	for _, children := range [][]protocol.BatchChild{
		{ofT}, {ofT, ofT}, {ofT, {Query: "DELETE FROM ks.u WHERE k = 1"}},
	} {
		if a, err := c.Do(t.Context(), &protocol.Batch{Children: children}); err != nil || a.Response == nil {
			t.Fatal(a, err)
		} else if e, failed := a.Response.(*protocol.Error); failed {
			t.Fatal(e)
		}
	}
	want := map[string]uint64{
		"definition .": 4, "select ks.m": 1, "update ks.t": 1, "delete ks.u": 1, "truncate ks.u": 1, "use .": 1,
		"describe .": 1, "select system.local": 1, "batch ks.t": 3, "batch .": 2, "insert ks.t": 3,
	}
	got := executions(inside.Of(s).Server)
	for series, n := range got {
		if n != want[series] {
			t.Errorf("%s: %d executions, want %d", series, n, want[series])
		}
	}
	if len(got) < len(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A dropped table gives its place to another; one of the same name begins anew.
func TestStatementLatenciesOfDroppedTables(t *testing.T) {
	s := cqltest.RunT(t)
	c := connect(t, s, client.Options{})
	run(t, c, createKeyspace)
	for range 3 {
		run(t, c, "CREATE TABLE ks.t (k int PRIMARY KEY)")
		if n := executions(inside.Of(s).Server)["select ks.t"]; n != 0 {
			t.Errorf("%d reads before the first", n)
		}
		run(t, c, "SELECT * FROM ks.t", "SELECT * FROM ks.t")
		if n := executions(inside.Of(s).Server)["select ks.t"]; n != 2 {
			t.Errorf("%d reads, want 2", n)
		}
		run(t, c, "DROP TABLE ks.t")
	}
	run(t, c, "CREATE TABLE ks.t (k int PRIMARY KEY)", "SELECT * FROM ks.t", "DROP KEYSPACE ks")
	for series := range executions(inside.Of(s).Server) {
		if strings.Contains(series, "ks.") {
			t.Errorf("%s is left", series)
		}
	}
}

// The tables that have histograms of their own are limited in number; the others are counted together.
func TestStatementLatenciesOfManyTables(t *testing.T) {
	s := cqltest.RunT(t)
	c := connect(t, s, client.Options{})
	const own, more = 256, 3
	run(t, c, createKeyspace)
	for i := range own + more {
		run(t, c, fmt.Sprintf("CREATE TABLE ks.t%d (k int PRIMARY KEY)", i), fmt.Sprintf("SELECT * FROM ks.t%d", i))
	}
	got := executions(inside.Of(s).Server)
	if n := got["select ."]; n != more {
		t.Errorf("%d reads of tables without a histogram, want %d", n, more)
	}
	if len(got) != own+2 { // "select ." and "definition ."
		t.Errorf("%d histograms, want %d", len(got), own+2)
	}
	run(t, c, "DROP TABLE ks.t0", fmt.Sprintf("SELECT k FROM ks.t%d", own))
	if n := executions(inside.Of(s).Server)[fmt.Sprintf("select ks.t%d", own)]; n != 1 {
		t.Errorf("the next table has %d reads in the place of a dropped one, want 1", n)
	}
}

// executions returns how many executions each histogram has counted, by "statement keyspace.table". Histograms without
// any are left out.
func executions(s *server.Server) map[string]uint64 {
	counts := map[string]uint64{}
	for _, l := range s.StatementLatencies() {
		if l.Count > 0 {
			counts[l.Statement+" "+l.Keyspace+"."+l.Table] = l.Count
		}
	}
	return counts
}
