package cqltest_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol/client"
)

// exampleT is the test of an Example function, which gets none.
type exampleT struct {
	testing.TB
	cleanups []func()
}

func (t *exampleT) Helper()                  {}
func (t *exampleT) Context() context.Context { return context.Background() }

func (t *exampleT) Name() string { return "TestExample" }

func (t *exampleT) Failed() bool { return false }

func (t *exampleT) Cleanup(fn func()) { t.cleanups = append(t.cleanups, fn) }

func (t *exampleT) Errorf(format string, args ...any) {
	fmt.Printf(format+"\n", args...)
}

func (t *exampleT) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (t *exampleT) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

func (t *exampleT) Output() io.Writer { return os.Stdout }

func (t *exampleT) Log(args ...any) { fmt.Println(args...) }

func (t *exampleT) end() {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
}

// A server with a schema and a row. An application's driver connects to srv.Addr().
func ExampleRunT() {
	t := new(exampleT) // in a test: its *testing.T
	defer t.end()

	srv := cqltest.RunT(t)
	srv.Exec(t, createShop, "CREATE TABLE shop.items (id int PRIMARY KEY, name text)")
	srv.Exec(t, "INSERT INTO shop.items (id, name) VALUES (1, 'tea')")
	fmt.Println(srv.Query(t, "SELECT name FROM shop.items WHERE id = ?", 1))
	// Output: 'tea'
}

// A server for all tests of a package, which TestMain starts.
func ExampleStart() {
	srv, err := cqltest.Start()
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Stop(context.Background()) // in TestMain: after m.Run, and before os.Exit

	fmt.Println(srv.Host())
	// Output: 127.0.0.1
}

// The tests of a package share a schema and nothing else.
func ExampleTemplate() {
	shop := cqltest.Template(func(t testing.TB, srv *cqltest.Server) { // a variable of the package
		srv.Exec(t, createShop, "CREATE TABLE shop.items (id int PRIMARY KEY, name text)")
	})

	t := new(exampleT)
	defer t.end()
	a, b := shop.RunT(t), shop.RunT(t) // in two tests
	a.Exec(t, "INSERT INTO shop.items (id, name) VALUES (1, 'tea')")
	fmt.Println(a.Query(t, "SELECT count(*) FROM shop.items"), b.Query(t, "SELECT count(*) FROM shop.items"))
	// Output: 1 0
}

// Rows can be compared as text and by their values.
func ExampleServer_Query() {
	t := new(exampleT)
	defer t.end()

	srv := cqltest.RunT(t)
	srv.Exec(t, createShop, "CREATE TABLE shop.items (id int PRIMARY KEY, name text, tags set<text>, made timestamp)")
	srv.Query(t, "INSERT INTO shop.items (id, name, tags, made) VALUES (?, ?, ?, ?)",
		1, "tea", []string{"hot", "green"}, time.Date(2024, 2, 29, 8, 0, 0, 0, time.UTC))
	rows := srv.Query(t, "SELECT name, tags, made FROM shop.items WHERE id = ?", 1)
	fmt.Println(rows.Columns)
	fmt.Println(rows)
	fmt.Println(rows.Values[0][0] == "tea", rows.Values[0][2].(time.Time).Year())
	fmt.Println(srv.QueryErr(t, "SELECT colour FROM shop.items"))
	// Output:
	// [name tags made]
	// 'tea', {'green', 'hot'}, '2024-02-29T08:00:00.000Z'
	// true 2024
	// Undefined column name colour in table shop.items
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

// Two replicas fail to write, twice. A driver gets an error with the numbers.
func ExampleFaults_Add() {
	t := new(exampleT)
	defer t.end()

	srv := cqltest.RunT(t)
	srv.Exec(t, createShop, "CREATE TABLE shop.orders (id int PRIMARY KEY)")
	rule := srv.Faults().Add(t, cqltest.Fault{
		Kind: "write", Table: "orders", Times: 2,
		Act: cqltest.WriteFailure(cqltest.Quorum, 1, 3, "SIMPLE", cqltest.Reasons{
			netip.MustParseAddr("127.0.0.2"): 0, netip.MustParseAddr("127.0.0.3"): 0,
		}),
	})
	ctx, driver := t.Context(), dial(t, srv, client.Options{})
	for range 3 {
		_, err := driver.Query(ctx, "INSERT INTO shop.orders (id) VALUES (1)", nil, nil)
		fmt.Println(err)
	}
	fmt.Println("the fault has acted", rule.Acted(), "times")
	// Output:
	// Operation failed - received 1 responses and 2 failures
	// Operation failed - received 1 responses and 2 failures
	// <nil>
	// the fault has acted 2 times
}

// Statements tells what each statement has read.
func ExampleServer_Statements() {
	t := new(exampleT)
	defer t.end()

	srv := cqltest.RunT(t)
	srv.Exec(t, createShop, "CREATE TABLE shop.t (p int, c int, v int, PRIMARY KEY (p, c))",
		"INSERT INTO shop.t (p, c, v) VALUES (1, 1, 1)", "INSERT INTO shop.t (p, c, v) VALUES (1, 2, 2)")
	srv.Record()
	ctx, driver := t.Context(), dial(t, srv, client.Options{})
	for _, q := range []string{"SELECT * FROM shop.t WHERE p = 1", "SELECT * FROM shop.t WHERE v = 2 ALLOW FILTERING"} {
		if _, err := driver.Query(ctx, q, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, st := range srv.Statements() {
		fmt.Println(st.Keys, st)
	}
	// Output:
	// [1] QUERY SELECT * FROM shop.t WHERE p = 1: 2 rows read, 2 returned
	// [] QUERY SELECT * FROM shop.t WHERE v = 2 ALLOW FILTERING: 2 rows read, 1 returned, all partitions
}
