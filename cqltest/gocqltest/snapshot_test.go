package gocqltest_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/gocqltest"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// TestRestoreSchema goes back to other definitions while a driver has statements prepared and a client waits for
// events: events tell of each change, and what was prepared is prepared again or fails as it should.
func TestRestoreSchema(t *testing.T) {
	s := cqltest.RunT(t)
	session := gocqltest.Session(t, s)
	keyspace := "t_restoreschema_1"
	s.Exec(t, "USE "+keyspace, "CREATE TABLE a (k int PRIMARY KEY, v text)", "INSERT INTO a (k, v) VALUES (1, 'one')",
		"CREATE TABLE gone (k int PRIMARY KEY)")
	ctx := context.Background()
	listener := dial(t, s, client.Options{})
	c := dial(t, s, client.Options{})
	read := func() (columns int) {
		t.Helper()
		iter := session.Query("SELECT * FROM a WHERE k = ?", 1).Iter()
		columns = len(iter.Columns())
		var k int
		if rest := make([]any, columns-1); !iter.Scan(append([]any{&k}, rest...)...) {
			t.Errorf("no row")
		}
		if err := iter.Close(); err != nil {
			t.Error(err)
		}
		return columns
	}
	if n := read(); n != 2 {
		t.Errorf("%d columns", n)
	}
	snapshot := s.Snapshot()
	s.Exec(t, "ALTER TABLE a ADD w int", "UPDATE a SET w = 2 WHERE k = 1", "DROP TABLE gone",
		"CREATE TABLE fresh (k int PRIMARY KEY)", "CREATE TYPE u (x int)", "CREATE KEYSPACE other WITH replication = "+
			"{'class': 'SimpleStrategy', 'replication_factor': 1}", "CREATE TABLE other.t (k int PRIMARY KEY)")
	if n := read(); n != 3 {
		t.Errorf("%d columns after ALTER", n)
	}
	p, err := c.Prepare(ctx, "SELECT * FROM other.t", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Register(ctx, protocol.SchemaChanges); err != nil {
		t.Fatal(err)
	}
	s.Restore(snapshot)
	want := []string{
		"DROPPED TABLE other t", "DROPPED KEYSPACE other ", "DROPPED TABLE " + keyspace + " fresh",
		"DROPPED TYPE " + keyspace + " u", "UPDATED TABLE " + keyspace + " a", "CREATED TABLE " + keyspace + " gone",
	}
	var got []string
	for range want {
		within, cancel := context.WithTimeout(ctx, 20*time.Second)
		e, err := listener.NextEvent(within)
		cancel()
		if err != nil {
			t.Fatalf("after %q: %v", got, err)
		}
		got = append(got, strings.Join([]string{e.Schema.Change, e.Schema.Target, e.Schema.Keyspace, e.Schema.Name}, " "))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("events\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := read(); n != 2 {
		t.Errorf("%d columns after Restore", n)
	}
	_, err = c.Do(ctx, &protocol.Execute{ID: p.ID, ResultMetadataID: p.ResultMetadataID})
	if e, ok := cqlerr.As(err); !ok || e.Code != cqlerr.Unprepared {
		t.Errorf("the answer is %v", err)
	}
	if err := session.Query("INSERT INTO gone (k) VALUES (1)").Exec(); err != nil {
		t.Error(err)
	}
	if err := session.Query("SELECT * FROM fresh").Exec(); err == nil {
		t.Error("a table is there that the snapshot lacks")
	}
	if got := s.Query(t, "SELECT count(*) FROM system_schema.tables WHERE keyspace_name = '"+keyspace+"'").String(); got != "2" {
		t.Errorf("system_schema has %s tables", got)
	}
	if m, err := session.KeyspaceMetadata(keyspace); err != nil || len(m.Tables) != 2 {
		t.Errorf("the driver knows %d tables, %v", len(m.Tables), err)
	}
}

// TestRestoreRows goes back in time with rows, counters, conditional writes and the clock.
func TestRestoreRows(t *testing.T) {
	s := cqltest.RunT(t)
	session := gocqltest.Session(t, s, func(c *gocql.ClusterConfig) { c.SerialConsistency = gocql.Serial })
	run(t, session, "CREATE TABLE t (k int PRIMARY KEY, v int)")
	run(t, session, "CREATE TABLE n (k int PRIMARY KEY, n counter)")
	run(t, session, "INSERT INTO t (k, v) VALUES (1, 0) USING TTL 3600")
	run(t, session, "UPDATE n SET n = n + 5 WHERE k = 1")
	snapshot := s.Snapshot()
	for range 3 {
		for i := range 3 {
			applied, err := session.Query("UPDATE t SET v = ? WHERE k = 1 IF v = ?", i+1, i).ScanCAS(new(int))
			if err != nil || !applied {
				t.Errorf("step %d: %v, %v", i, applied, err)
			}
			run(t, session, "UPDATE n SET n = n + 1 WHERE k = 1")
		}
		run(t, session, "DELETE FROM t WHERE k = 1")
		s.Clock().Advance(2 * time.Hour)
		s.Restore(snapshot)
		var v, n int
		if err := session.Query("SELECT v FROM t WHERE k = 1").Scan(&v); err != nil || v != 0 {
			t.Errorf("v is %d, %v", v, err)
		}
		if err := session.Query("SELECT n FROM n WHERE k = 1").Scan(&n); err != nil || n != 5 {
			t.Errorf("n is %d, %v", n, err)
		}
	}
}
