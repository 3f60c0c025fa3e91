package cqltest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/gocqltest"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/store"
)

const createShop = "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"

// dial opens a connection that is closed with the test.
func dial(t testing.TB, s *cqltest.Server, o client.Options) *client.Conn {
	t.Helper()
	c, err := client.Dial(context.Background(), s.Addr(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// one returns the only value of the only row of a query, as a literal.
func one(t testing.TB, s *cqltest.Server, text string) string {
	t.Helper()
	r, err := dial(t, s, client.Options{}).Query(context.Background(), text, nil, nil)
	if err != nil || len(r.Rows) != 1 {
		t.Fatalf("%s: %d rows, %v", text, len(r.Rows), err)
	}
	return r.Columns[0].Type.Format(r.Rows[0][0])
}

// TestFork starts servers from one snapshot, also when the server that it is of is stopped. They and the server have
// rows, definitions, clocks and host ids of their own.
func TestFork(t *testing.T) {
	s := cqltest.RunT(t)
	s.Clock().Freeze()
	s.Exec(t, createShop+"; CREATE TABLE shop.t (k int PRIMARY KEY, n int); INSERT INTO shop.t (k, n) VALUES (1, 1) USING TTL 60")
	snapshot := s.Snapshot()
	s.Exec(t, "UPDATE shop.t SET n = 2 WHERE k = 1")
	s.Clock().Advance(time.Hour)
	if err := s.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	hosts := map[[16]byte]bool{s.Store.HostID(): true}
	for i := range 3 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			fork := snapshot.Fork(t)
			if got := one(t, fork, "SELECT n FROM shop.t"); got != "1" {
				t.Errorf("n is %s", got)
			}
			if id := fork.Store.HostID(); hosts[id] {
				t.Error("two servers have one host id")
			} else {
				hosts[id] = true
			}
			fork.Exec(t, "UPDATE shop.t SET n = 3 WHERE k = 1; DROP TABLE shop.t")
			child := fork.Fork(t)
			child.Exec(t, "CREATE TABLE shop.t (other int PRIMARY KEY)")
			fork.Clock().Advance(time.Minute)
			if d := fork.Clock().Now().Sub(child.Clock().Now()); d != time.Minute {
				t.Errorf("the clocks are %v apart", d)
			}
		})
	}
}

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
	if got := one(t, s, "SELECT count(*) FROM system_schema.tables WHERE keyspace_name = '"+keyspace+"'"); got != "2" {
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

// BenchmarkMillionRows makes, restores and forks a snapshot of 1,000,000 rows, which are written to between. It reports
// the median times.
func BenchmarkMillionRows(b *testing.B) {
	s := cqltest.RunT(b)
	s.Exec(b, createShop, "CREATE TABLE shop.t (k int, c int, v text, PRIMARY KEY (k, c))")
	table := s.Store.Catalog().Table("shop", "t")
	for k := range int32(1000) {
		m := store.NewMutation(table, types.EncodeInt(k))
		for c := range int32(1000) {
			m.Row([][]byte{types.EncodeInt(c)})
			m.Set(table.Column("v"), []byte("value"), 1, store.Expiry{})
		}
		done := make(chan error, 1)
		s.Store.Apply([]*store.Mutation{m}, func(err error) { done <- err })
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	write := func(s *cqltest.Server) { s.Exec(b, "INSERT INTO shop.t (k, c, v) VALUES (1, 1, 'changed')") }
	snapshot := s.Snapshot()
	measure := func(name string, do func() *cqltest.Server) {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				changed := do()
				took = append(took, time.Since(began))
				write(changed)
				if changed != s {
					if err := changed.Stop(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
			}
			slices.Sort(took)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "median-µs")
		})
	}
	measure("snapshot", func() *cqltest.Server { s.Snapshot(); return s })
	measure("restore", func() *cqltest.Server { s.Restore(snapshot); return s })
	measure("fork", func() *cqltest.Server { return snapshot.Fork(b) })
	if n := one(b, s, "SELECT count(*) FROM shop.t"); n != "1000000" {
		b.Errorf("%s rows", n)
	}
}
