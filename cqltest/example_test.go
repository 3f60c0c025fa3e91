package cqltest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/gocqltest"
	"github.com/cqld/cqld/server"
)

// The pages README.md and docs/testing.md show parts of these tests, word for word.

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
	session := gocqltest.Session(t, srv)
	run(t, session, "CREATE TABLE tokens (id int PRIMARY KEY)")
	run(t, session, "INSERT INTO tokens (id) VALUES (1) USING TTL 3600")
	srv.Clock().Advance(time.Hour)
	var id int
	err := session.Query("SELECT id FROM tokens WHERE id = 1").Scan(&id)
	if !errors.Is(err, gocql.ErrNotFound) {
		t.Errorf("the token is still there: %v", err)
	}
}

// Each test begins with the schema that the first one has loaded.
var shop struct {
	sync.Once
	*cqltest.Snapshot
}

func newShop(t *testing.T) *cqltest.Server {
	shop.Do(func() {
		srv := cqltest.RunT(t)
		srv.LoadDir(t, "testdata/schema")
		shop.Snapshot = srv.Snapshot()
	})
	return shop.Fork(t)
}

func TestForks(t *testing.T) {
	for i := range 3 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			srv := newShop(t)
			srv.Exec(t, "INSERT INTO shop.items (id, name) VALUES (1, 'tea')")
			if got := one(t, srv, "SELECT count(*) FROM shop.items"); got != "1" {
				t.Errorf("%s items", got)
			}
		})
	}
}

// The steps of a test go back to where they began.
func TestSteps(t *testing.T) {
	srv := newShop(t)
	start := srv.Snapshot()
	for _, item := range []string{"tea", "milk"} {
		srv.Restore(start)
		srv.Exec(t, "INSERT INTO shop.items (id, name) VALUES (1, '"+item+"')")
		if got := one(t, srv, "SELECT count(*) FROM shop.items"); got != "1" {
			t.Errorf("%s items", got)
		}
	}
}

// The application sees the error that a cluster in trouble would answer.
func TestUnavailable(t *testing.T) {
	srv := cqltest.RunT(t)
	session := gocqltest.Session(t, srv)
	run(t, session, "CREATE TABLE t (id int PRIMARY KEY)")
	rule := srv.Faults().Add(cqltest.Fault{
		Kind: "select", Table: "t", Times: 1,
		Act: cqltest.Unavailable(cqlerr.Quorum, 2, 1),
	})
	err := session.Query("SELECT * FROM t").Exec()
	var unavailable *gocql.RequestErrUnavailable
	if !errors.As(err, &unavailable) || unavailable.Required != 2 {
		t.Errorf("the error is %v", err)
	}
	if err := session.Query("SELECT * FROM t").Exec(); err != nil || rule.Acted() != 1 {
		t.Errorf("%v, and the fault has acted %d times", err, rule.Acted())
	}
}

// A write is applied, and the client does not know it.
func TestLostAnswer(t *testing.T) {
	srv := cqltest.RunT(t)
	session := gocqltest.Session(t, srv)
	run(t, session, "CREATE TABLE t (id int PRIMARY KEY)")
	srv.Faults().Add(cqltest.Fault{
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
	srv := cqltest.RunT(t, cqltest.WithInterceptor(func(ctx context.Context, r server.Intercepted) error {
		if r.Opcode == "EXECUTE" && strings.HasPrefix(r.Statements[0], "SELECT") {
			return cqlerr.NotEnoughReplicas(cqlerr.Quorum, 2, 1)
		}
		return nil
	}))
	session := gocqltest.Session(t, srv)
	run(t, session, "CREATE TABLE t (id int PRIMARY KEY)")
	if err := session.Query("SELECT * FROM t WHERE id = ?", 1).Exec(); err == nil {
		t.Error("no error")
	}
}

// The test sees what reaches the server.
func TestSeen(t *testing.T) {
	srv := cqltest.RunT(t)
	session := gocqltest.Session(t, srv)
	run(t, session, "CREATE TABLE t (id int PRIMARY KEY, name text)")
	srv.Record()
	run(t, session, "INSERT INTO t (id, name) VALUES (?, ?)", 1, "tea")
	run(t, session, "SELECT name FROM t WHERE id = ?", 1)
	srv.AssertNoFullScan(t)
	srv.AssertPrepared(t)
	for _, st := range srv.Statements() {
		if st.Opcode == "EXECUTE" && (len(st.Keys) != 1 || st.Keys[0] != "1") {
			t.Errorf("%v has met the partitions %v", st, st.Keys)
		}
	}
}

// The test compares what is there with what should be.
func TestDumps(t *testing.T) {
	srv := newShop(t)
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

// exampleT is the test of an Example function, which gets none.
type exampleT struct {
	testing.TB
	cleanups []func()
}

func (t *exampleT) Helper()           {}
func (t *exampleT) Name() string      { return "TestExample" }
func (t *exampleT) Failed() bool      { return false }
func (t *exampleT) Cleanup(fn func()) { t.cleanups = append(t.cleanups, fn) }
func (t *exampleT) Errorf(format string, args ...any) {
	fmt.Printf(format+"\n", args...)
}
func (t *exampleT) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (t *exampleT) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (t *exampleT) Output() io.Writer                 { return os.Stdout }
func (t *exampleT) Log(args ...any)                   { fmt.Println(args...) }
func (t *exampleT) end() {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
}

// A server with a schema and a row, and a session in a keyspace of its own.
func ExampleRunT() {
	t := new(exampleT) // in a test: its *testing.T
	defer t.end()

	srv := cqltest.RunT(t)
	session := gocqltest.Session(t, srv)
	if err := session.Query("CREATE TABLE greetings (id int PRIMARY KEY, word text)").Exec(); err != nil {
		t.Fatal(err)
	}
	if err := session.Query("INSERT INTO greetings (id, word) VALUES (?, ?)", 1, "hello").Exec(); err != nil {
		t.Fatal(err)
	}
	var word string
	if err := session.Query("SELECT word FROM greetings WHERE id = ?", 1).Scan(&word); err != nil {
		t.Fatal(err)
	}
	fmt.Println(word)
	// Output: hello
}

// A server for all tests of a package, which TestMain starts.
func ExampleStart() {
	srv, err := cqltest.Start()
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Stop(context.Background()) // in TestMain: behind m.Run, and before os.Exit

	session, err := gocql.NewCluster(srv.Addr()).CreateSession()
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	var datacenter string
	if err := session.Query("SELECT data_center FROM system.local").Scan(&datacenter); err != nil {
		log.Fatal(err)
	}
	fmt.Println(datacenter)
	// Output: datacenter1
}

// A ring of two datacenters whose nodes fail and come back.
func ExampleRingOf() {
	t := new(exampleT)
	defer t.end()

	srv := cqltest.RunT(t, cqltest.RingOf("dc1=3,dc2=3"))
	srv.Node(2).Stop()          // its clients lose their connections, and those of the others get the event DOWN
	srv.Node(3).Slow(time.Hour) // levels that need its answer time out
	srv.Node(4).Partition()     // clients reach it, and the other nodes do not
	srv.AddNode("dc2", "rack2") // clients get the event NEW_NODE
	srv.Node(2).Start()         // they get UP
	fmt.Println(srv.Node(2).State().Datacenter, len(srv.Nodes()))
	// Output: dc1 7
}

// Any driver can be connected.
func ExampleSession() {
	t := new(exampleT)
	defer t.end()

	srv := cqltest.RunT(t)
	session := cqltest.Session(t, srv, func(addr, keyspace string) (*gocql.Session, error) {
		cluster := gocql.NewCluster(addr)
		cluster.Keyspace = keyspace
		return cluster.CreateSession()
	})
	fmt.Println(session.Query("CREATE TABLE t (k int PRIMARY KEY)").Exec())
	// Output: <nil>
}

// An hour goes by at once.
func ExampleClock() {
	t := new(exampleT)
	defer t.end()

	srv := cqltest.RunT(t)
	srv.Exec(t, createShop, "CREATE TABLE shop.tokens (id int PRIMARY KEY)",
		"INSERT INTO shop.tokens (id) VALUES (1) USING TTL 3600")
	fmt.Print(srv.Dump(t, cqltest.DumpNoSchema))
	srv.Clock().Advance(time.Hour)
	fmt.Printf("then: %q\n", srv.Dump(t, cqltest.DumpNoSchema))
	// Output:
	// INSERT INTO shop.tokens (id) VALUES (1);
	// then: ""
}

// Forks begin with what a snapshot has.
func ExampleSnapshot_Fork() {
	t := new(exampleT)
	defer t.end()

	srv := cqltest.RunT(t)
	srv.Exec(t, createShop, "CREATE TABLE shop.t (id int PRIMARY KEY)")
	migrated := srv.Snapshot()
	a, b := migrated.Fork(t), migrated.Fork(t)
	a.Exec(t, "INSERT INTO shop.t (id) VALUES (1)")
	b.Exec(t, "INSERT INTO shop.t (id) VALUES (2)")
	fmt.Print(a.Diff(t, b))
	// Output:
	// - INSERT INTO shop.t (id) VALUES (1);
	// + INSERT INTO shop.t (id) VALUES (2);
}

// Everything goes back to where it was.
func ExampleServer_Restore() {
	t := new(exampleT)
	defer t.end()

	srv := cqltest.RunT(t)
	srv.Exec(t, createShop)
	empty := srv.Snapshot()
	srv.Exec(t, "CREATE TABLE shop.t (id int PRIMARY KEY)", "INSERT INTO shop.t (id) VALUES (1)")
	srv.Restore(empty)
	srv.Exec(t, "CREATE TABLE shop.t (id text PRIMARY KEY)")
	fmt.Printf("%q\n", srv.Dump(t, cqltest.DumpNoSchema))
	// Output: ""
}

// Two replicas fail to write, twice.
func ExampleFaults_Add() {
	t := new(exampleT)
	defer t.end()

	srv := cqltest.RunT(t)
	session := gocqltest.Session(t, srv)
	srv.Exec(t, createShop, "CREATE TABLE shop.orders (id int PRIMARY KEY)")
	rule := srv.Faults().Add(cqltest.Fault{
		Kind: "write", Table: "orders", Times: 2,
		Act: cqltest.WriteFailure(cqlerr.Quorum, 1, 3, "SIMPLE", cqltest.Reasons{
			netip.MustParseAddr("127.0.0.2"): 0, netip.MustParseAddr("127.0.0.3"): 0,
		}),
	})
	for range 3 {
		err := session.Query("INSERT INTO shop.orders (id) VALUES (1)").Exec()
		var failure *gocql.RequestErrWriteFailure
		if errors.As(err, &failure) {
			fmt.Println(failure.NumFailures, "replicas failed")
		} else {
			fmt.Println(err)
		}
	}
	fmt.Println("the fault has acted", rule.Acted(), "times")
	// Output:
	// 2 replicas failed
	// 2 replicas failed
	// <nil>
	// the fault has acted 2 times
}

// Statements tells what each statement has read.
func ExampleServer_Statements() {
	t := new(exampleT)
	defer t.end()

	srv := cqltest.RunT(t)
	session := gocqltest.Session(t, srv)
	srv.Exec(t, createShop, "CREATE TABLE shop.t (p int, c int, v int, PRIMARY KEY (p, c))",
		"INSERT INTO shop.t (p, c, v) VALUES (1, 1, 1)", "INSERT INTO shop.t (p, c, v) VALUES (1, 2, 2)")
	srv.Record()
	for _, q := range []string{"SELECT * FROM shop.t WHERE p = 1", "SELECT * FROM shop.t WHERE v = 2 ALLOW FILTERING"} {
		if err := session.Query(q).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	for _, st := range srv.Statements() {
		if st.Opcode != "PREPARE" {
			fmt.Println(st.Keys, st)
		}
	}
	// Output:
	// [1] EXECUTE SELECT * FROM shop.t WHERE p = 1: 2 rows read, 2 returned
	// [] EXECUTE SELECT * FROM shop.t WHERE v = 2 ALLOW FILTERING: 2 rows read, 1 returned, all partitions
}
