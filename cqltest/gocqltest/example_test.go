package gocqltest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/gocqltest"
)

// Tests as applications write them.

// An application's test: a server of its own, and the application's driver.
func TestOrders(t *testing.T) {
	srv := cqltest.RunT(t)
	session, err := gocql.NewCluster(srv.Addr()).CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()

	for _, statement := range []string{
		"CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE shop.orders (customer int, day date, item text, PRIMARY KEY (customer, day))",
		"INSERT INTO shop.orders (customer, day, item) VALUES (1, '2024-02-29', 'tea')",
	} {
		if err := session.Query(statement).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	var item string
	if err := session.Query("SELECT item FROM shop.orders WHERE customer = ?", 1).Scan(&item); err != nil || item != "tea" {
		t.Errorf("%q, %v", item, err)
	}
}

// The schema is in files, and the session has a keyspace of its own.
func TestSchemaFiles(t *testing.T) {
	srv := cqltest.RunT(t)
	srv.LoadDir(t, "testdata/schema")
	srv.Exec(t, "INSERT INTO shop.items (id, name) VALUES (1, 'tea'); INSERT INTO shop.items (id, name) VALUES (2, 'milk')")
	session := gocqltest.Session(t, srv)
	var n int
	if err := session.Query("SELECT count(*) FROM shop.items").Scan(&n); err != nil || n != 2 {
		t.Errorf("%d items, %v", n, err)
	}
}

// What has a TTL is gone when the test says so.
func TestExpiry(t *testing.T) {
	srv := cqltest.RunT(t)
	srv.Exec(t, "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE shop.tokens (id int PRIMARY KEY)", "INSERT INTO shop.tokens (id) VALUES (1) USING TTL 3600")
	srv.Clock().Advance(time.Hour)
	if got := srv.Query(t, "SELECT id FROM shop.tokens").String(); got != "" {
		t.Errorf("the token is still there: %s", got)
	}
}

// Each test begins with the schema, which the first one loads.
var shop = cqltest.Template(func(t testing.TB, srv *cqltest.Server) {
	srv.LoadDir(t, "testdata/schema")
})

func TestForks(t *testing.T) {
	t.Parallel()
	for i := range 3 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			srv := shop.RunT(t)
			srv.Query(t, "INSERT INTO shop.items (id, name) VALUES (?, ?)", 1, "tea")
			if got := srv.Query(t, "SELECT id, name FROM shop.items").String(); got != "1, 'tea'" {
				t.Errorf("the items are\n%s", got)
			}
		})
	}
}

// The steps of a test go back to where they began.
func TestSteps(t *testing.T) {
	srv := shop.RunT(t)
	start := srv.Snapshot()
	for _, item := range []string{"tea", "milk"} {
		srv.Restore(start)
		srv.Exec(t, "INSERT INTO shop.items (id, name) VALUES (1, '"+item+"')")
		if got := srv.Query(t, "SELECT count(*) FROM shop.items").Values[0][0]; got != 1 {
			t.Errorf("%v items", got)
		}
	}
}

// The application sees the error that a cluster in trouble would answer.
func TestUnavailable(t *testing.T) {
	srv := shop.RunT(t)
	session := gocqltest.Session(t, srv)
	rule := srv.Faults().Add(t, cqltest.Fault{
		Kind: "select", Table: "items", Times: 1,
		Act: cqltest.Unavailable(cqltest.Quorum, 2, 1),
	})
	err := session.Query("SELECT * FROM shop.items").Exec()
	var unavailable *gocql.RequestErrUnavailable
	if !errors.As(err, &unavailable) || unavailable.Required != 2 {
		t.Errorf("the error is %v", err)
	}
	if err := session.Query("SELECT * FROM shop.items").Exec(); err != nil || rule.Acted() != 1 {
		t.Errorf("%v, and the fault has acted %d times", err, rule.Acted())
	}
}

// A write is applied, and the client does not know it.
func TestLostAnswer(t *testing.T) {
	srv := cqltest.RunT(t)
	session := gocqltest.Session(t, srv)
	run(t, session, "CREATE TABLE t (id int PRIMARY KEY)")
	srv.Faults().Add(t, cqltest.Fault{
		Kind: "insert", Times: 1,
		Act: cqltest.WriteTimeout(cqltest.SameLevel, 0, 1, "SIMPLE").AfterApplying(),
	})
	var timeout *gocql.RequestErrWriteTimeout
	if err := session.Query("INSERT INTO t (id) VALUES (1)").Exec(); !errors.As(err, &timeout) {
		t.Errorf("the error is %v", err)
	}
	var id int
	if err := session.Query("SELECT id FROM t").Scan(&id); err != nil {
		t.Error(err)
	}
}

// An interceptor is a function of the test's own.
func TestInterceptor(t *testing.T) {
	srv := cqltest.RunT(t, cqltest.WithInterceptor(func(ctx context.Context, r *cqltest.Request) cqltest.Act {
		if r.Opcode == "EXECUTE" && strings.HasPrefix(r.Statements[0], "SELECT") {
			return cqltest.Unavailable(cqltest.Quorum, 2, 1)
		}
		return cqltest.Act{}
	}))
	session := gocqltest.Session(t, srv)
	run(t, session, "CREATE TABLE t (id int PRIMARY KEY)")
	if err := session.Query("SELECT * FROM t WHERE id = ?", 1).Exec(); err == nil {
		t.Error("no error")
	}
}

// The test sees what reaches the server.
func TestSeen(t *testing.T) {
	srv := shop.RunT(t)
	session := gocqltest.Session(t, srv)
	srv.Record()
	if err := session.Query("INSERT INTO shop.items (id, name) VALUES (?, ?)", 1, "tea").Exec(); err != nil {
		t.Fatal(err)
	}
	srv.AssertNoFullScan(t)
	srv.AssertPrepared(t)
	for _, st := range srv.Statements() {
		if st.Opcode == "EXECUTE" && (len(st.Keys) != 1 || st.Keys[0] != "1") {
			t.Errorf("%v has met the partitions %v", st, st.Keys)
		}
	}
}

// What is there can be asked for without a driver.
func TestItems(t *testing.T) {
	srv := shop.RunT(t)
	srv.Query(t, "INSERT INTO shop.items (id, name) VALUES (?, ?)", 1, "tea")
	if got := srv.Query(t, "SELECT id, name FROM shop.items WHERE id = ?", 1).String(); got != "1, 'tea'" {
		t.Errorf("the items are\n%s", got)
	}
	if got := srv.Query(t, "SELECT name FROM shop.items").Values[0][0]; got != "tea" {
		t.Errorf("the name is %v", got)
	}
	if err := srv.QueryErr(t, "SELECT colour FROM shop.items"); !strings.Contains(err.Error(), "Undefined column name") {
		t.Errorf("the error is %v", err)
	}
}

// The test compares what is there with what should be.
func TestDumps(t *testing.T) {
	srv := shop.RunT(t)
	srv.Exec(t, "INSERT INTO shop.items (id, name) VALUES (1, 'tea')")
	want := "INSERT INTO shop.items (id, name) VALUES (1, 'tea');\n"
	if dump := srv.Dump(t, cqltest.DumpNoSchema); dump != want {
		t.Errorf("the tables have\n%s", dump)
	}
	other := srv.Fork(t)
	other.Exec(t, "UPDATE shop.items SET name = 'milk' WHERE id = 1")
	if diff := srv.Diff(t, other); diff == "" {
		t.Error("no difference")
	}
}

// A ring of two datacenters, of which one loses its quorum.
func TestRingOfOrders(t *testing.T) {
	srv := cqltest.RunT(t, cqltest.RingOf("dc1=3,dc2=3"))
	srv.Exec(t, "CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3, 'dc2': 3}",
		"CREATE TABLE shop.orders (id int PRIMARY KEY)")
	srv.Node(2).Stop()
	srv.Node(3).Stop()
	cluster := gocql.NewCluster(srv.Addr())
	cluster.PoolConfig.HostSelectionPolicy = gocql.DCAwareRoundRobinPolicy("dc1")
	session, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	srv.Record()

	err = session.Query("INSERT INTO shop.orders (id) VALUES (1)").Consistency(gocql.LocalQuorum).Exec()
	var unavailable *gocql.RequestErrUnavailable
	if !errors.As(err, &unavailable) || unavailable.Required != 2 || unavailable.Alive != 1 {
		t.Errorf("LOCAL_QUORUM without a quorum: %v", err)
	}
	err = session.Query("INSERT INTO shop.orders (id) VALUES (1)").Consistency(gocql.Quorum).Exec()
	if err != nil {
		t.Errorf("QUORUM with four of six nodes: %v", err)
	}
	for _, s := range srv.Statements() {
		if s.Node != 1 {
			t.Errorf("node %d coordinated %v", s.Node, s)
		}
	}
}

func run(t *testing.T, session *gocql.Session, statement string, values ...any) {
	t.Helper()
	if err := session.Query(statement, values...).Exec(); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
