package example

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/cqltest/gocqltest"
)

var cassandra = flag.String("cassandra", "", "run against the Cassandra at this address instead of servers of cqltest")

// ground is where a test runs: the shop, and how time goes by there.
type ground struct {
	*Shop
	server *cqltest.Server // nil: it is a Cassandra
	pass   func(time.Duration)
}

// migrated has the schema: each test starts from a fork of it.
var migrated = cqltest.Template(func(t testing.TB, s *cqltest.Server) {
	s.Exec(t, "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", "USE shop")
	s.LoadFS(t, schemaFiles(t))
})

// schemaFiles are the files of the schema.
func schemaFiles(t testing.TB) fs.FS {
	t.Helper()
	files, err := fs.Sub(Schema, "schema")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// open returns a shop with empty tables.
func open(t *testing.T) ground {
	t.Helper()
	if *cassandra != "" {
		return openCassandra(t, schemaFiles(t))
	}
	s := migrated.RunT(t)
	cluster := gocqltest.Cluster(s.Addr())
	cluster.Keyspace = "shop"
	return ground{Shop: shop(t, cluster), server: s, pass: s.Clock().Advance}
}

// openCassandra makes a keyspace of the test's own.
func openCassandra(t *testing.T, files fs.FS) ground {
	t.Helper()
	cluster := gocqltest.Cluster(*cassandra)
	cluster.Timeout, cluster.ConnectTimeout = 20*time.Second, 20*time.Second
	admin, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	keyspace := "example_" + strings.ToLower(strings.NewReplacer("/", "_").Replace(t.Name()))
	for _, text := range []string{
		"DROP KEYSPACE IF EXISTS " + keyspace,
		"CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	} {
		if err := admin.Query(text).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	cluster.Keyspace = keyspace
	g := ground{Shop: shop(t, cluster), pass: time.Sleep}
	names, err := fs.Glob(files, "*.cql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range strings.Split(string(text), ";") {
			if strings.TrimSpace(statement) == "" {
				continue
			}
			if err := g.Session.Query(statement).Exec(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	return g
}

func shop(t *testing.T, cluster *gocql.ClusterConfig) *Shop {
	t.Helper()
	session, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return &Shop{Session: session, Reservation: 3 * time.Second, Claim: 3 * time.Second}
}

var day = time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)

func at(hour, team int) Slot {
	return Slot{Day: day, Starts: time.Duration(hour) * time.Hour, Team: team}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// order fills a basket, reserves a slot and orders.
func order(t *testing.T, g ground, customer gocql.UUID, slot Slot, products map[string]int) gocql.UUID {
	t.Helper()
	for product, n := range products {
		must(t, g.Put(t.Context(), customer, product, n))
	}
	must(t, g.Reserve(t.Context(), customer, slot))
	id := gocql.TimeUUID()
	must(t, g.Submit(t.Context(), customer, id, slot, inf.NewDec(1250, 2)))
	return id
}

// A customer orders, and everybody sees it where they look.
func TestOrder(t *testing.T) {
	g, ctx, customer := open(t), t.Context(), gocql.MustRandomUUID()
	must(t, g.Plan(ctx, at(10, 1), at(8, 2), at(8, 1)))
	if free, err := g.Free(ctx, day); err != nil || !slices.Equal(free, []Slot{at(8, 1), at(8, 2), at(10, 1)}) {
		t.Errorf("free slots: %v, %v", free, err)
	}
	if err := g.Submit(ctx, customer, gocql.TimeUUID(), at(8, 1), nil); !errors.Is(err, ErrEmpty) {
		t.Errorf("an empty basket: %v", err)
	}
	first := order(t, g, customer, at(8, 1), map[string]int{"tea": 2, "milk": 1})
	second := order(t, g, customer, at(10, 1), map[string]int{"tea": 1})
	if free, err := g.Free(ctx, day); err != nil || !slices.Equal(free, []Slot{at(8, 2)}) {
		t.Errorf("free slots: %v, %v", free, err)
	}
	var seen []Order
	var pages int
	for page := []byte(nil); pages == 0 || page != nil; pages++ {
		all, next, err := g.Orders(ctx, customer, 1, page)
		must(t, err)
		seen, page = append(seen, all...), next
		if len(next) == 0 {
			page = nil
		}
	}
	if len(seen) != 2 || seen[0].ID != second || seen[1].ID != first || pages < 2 {
		t.Fatalf("%d orders in %d pages: %v", len(seen), pages, seen)
	}
	if o := seen[1]; o.Products["tea"] != 2 || o.Products["milk"] != 1 || o.Slot != at(8, 1) || o.Total.String() != "12.50" {
		t.Errorf("the first order is %v", o)
	}
	if ids, err := g.Deliveries(ctx, day, 1); err != nil || !slices.Equal(ids, []gocql.UUID{first, second}) {
		t.Errorf("deliveries: %v, %v", ids, err)
	}
	if n, err := g.Sold(ctx, "tea"); err != nil || n != 3 {
		t.Errorf("%d tea sold, %v", n, err)
	}
}

// A slot goes to one customer of many who want it at the same time.
func TestOneGetsTheSlot(t *testing.T) {
	g, ctx := open(t), t.Context()
	must(t, g.Plan(ctx, at(8, 1)))
	var got atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			switch err := g.Reserve(ctx, gocql.MustRandomUUID(), at(8, 1)); {
			case err == nil:
				got.Add(1)
			case !errors.Is(err, ErrTaken):
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got.Load() != 1 {
		t.Errorf("%d customers have the slot", got.Load())
	}
	if err := g.Reserve(ctx, gocql.MustRandomUUID(), at(9, 1)); !errors.Is(err, ErrUnknown) {
		t.Errorf("a slot that was never planned: %v", err)
	}
}

// A reservation ends by itself, and an order does not.
func TestReservationExpires(t *testing.T) {
	g, ctx := open(t), t.Context()
	early, late := gocql.MustRandomUUID(), gocql.MustRandomUUID()
	must(t, g.Plan(ctx, at(8, 1), at(9, 1)))
	kept := order(t, g, early, at(9, 1), map[string]int{"tea": 1})
	must(t, g.Put(ctx, early, "milk", 1))
	must(t, g.Reserve(ctx, early, at(8, 1)))
	if err := g.Reserve(ctx, late, at(8, 1)); !errors.Is(err, ErrTaken) {
		t.Errorf("a reserved slot: %v", err)
	}
	g.pass(g.Reservation + time.Second)
	if err := g.Submit(ctx, early, gocql.TimeUUID(), at(8, 1), inf.NewDec(1, 0)); !errors.Is(err, ErrExpired) {
		t.Errorf("an order for a slot that has expired: %v", err)
	}
	must(t, g.Reserve(ctx, late, at(8, 1)))
	if free, err := g.Free(ctx, day); err != nil || len(free) != 0 {
		t.Errorf("free slots: %v, %v", free, err)
	}
	if ids, err := g.Deliveries(ctx, day, 1); err != nil || !slices.Equal(ids, []gocql.UUID{kept}) {
		t.Errorf("deliveries: %v, %v", ids, err)
	}
}

// Pickers get each order once, in order. An order that a picker abandons goes to the next picker.
func TestPicking(t *testing.T) {
	g, ctx := open(t), t.Context()
	var ids []gocql.UUID
	for i := range 3 {
		must(t, g.Plan(ctx, at(8+i, 1)))
		ids = append(ids, order(t, g, gocql.MustRandomUUID(), at(8+i, 1), map[string]int{"tea": 1}))
	}
	pick := func(picker string, want gocql.UUID) {
		t.Helper()
		if id, err := g.Pick(ctx, 1, picker); err != nil || id != want {
			t.Errorf("%s got %v, %v; want %v", picker, id, err, want)
		}
	}
	pick("ann", ids[0])
	pick("bob", ids[1])
	must(t, g.Picked(ctx, 1, ids[0], "ann"))
	pick("ann", ids[2])
	if _, err := g.Pick(ctx, 1, "cid"); !errors.Is(err, ErrNoWork) {
		t.Errorf("when all have been given away: %v", err)
	}
	must(t, g.Picked(ctx, 1, ids[2], "ann"))
	g.pass(g.Claim + time.Second)
	if err := g.Picked(ctx, 1, ids[1], "bob"); !errors.Is(err, ErrExpired) {
		t.Errorf("an order that was claimed too long ago: %v", err)
	}
	pick("cid", ids[1])
	must(t, g.Picked(ctx, 1, ids[1], "cid"))
	if _, err := g.Pick(ctx, 1, "cid"); !errors.Is(err, ErrNoWork) {
		t.Errorf("when all are picked: %v", err)
	}
}

// onlyHere skips a test that needs a fault, which Cassandra cannot inject.
func onlyHere(t *testing.T) ground {
	t.Helper()
	if *cassandra != "" {
		t.Skip("it makes the server fail")
	}
	return open(t)
}

// An order can be tried again wherever it has failed, and is there once.
func TestSubmitAgain(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault cqltest.Fault
	}{
		{"the slot is not confirmed", cqltest.Fault{Conditional: true, Act: cqltest.CASWriteUnknown(cqltest.SameLevel, 0, 1)}},
		{"the slot is confirmed unseen", cqltest.Fault{
			Conditional: true, Act: cqltest.CASWriteUnknown(cqltest.SameLevel, 0, 1).AfterApplying(),
		}},
		{"the batch is not stored", cqltest.Fault{Opcode: "BATCH", Act: cqltest.Unavailable(cqltest.SameLevel, 1, 0)}},
		{"the connection is lost", cqltest.Fault{Opcode: "BATCH", Act: cqltest.Drop()}},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, ctx, customer := onlyHere(t), t.Context(), gocql.MustRandomUUID()
			must(t, g.Plan(ctx, at(8, 1)))
			must(t, g.Put(ctx, customer, "tea", 2))
			must(t, g.Reserve(ctx, customer, at(8, 1)))
			test.fault.Times = 1
			rule := g.server.Faults().Add(t, test.fault)
			id := gocql.TimeUUID()
			if err := g.Submit(ctx, customer, id, at(8, 1), inf.NewDec(5, 0)); err == nil {
				t.Fatal("nothing has failed")
			}
			if rule.Acted() != 1 {
				t.Errorf("the fault has acted %d times", rule.Acted())
			}
			submitted := false
			for deadline := time.Now().Add(20 * time.Second); !submitted && time.Now().Before(deadline); {
				submitted = g.Submit(ctx, customer, id, at(8, 1), inf.NewDec(5, 0)) == nil
			}
			if all, _, err := g.Orders(ctx, customer, 10, nil); err != nil || len(all) != 1 || all[0].ID != id {
				t.Errorf("the orders are %v, %v", all, err)
			}
			if n, err := g.Sold(ctx, "tea"); err != nil || n != 2 {
				t.Errorf("%d sold, %v", n, err)
			}
		})
	}
}

// A read waits for a slow server as long as its context lets it.
func TestSlowServer(t *testing.T) {
	g := onlyHere(t)
	g.server.Faults().Add(t, cqltest.Fault{Kind: "select", Table: "delivery_slots", Delay: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := g.Free(ctx, day); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
}

// The application asks for nothing that a cluster would suffer from.
func TestStatements(t *testing.T) {
	g, ctx, customer := onlyHere(t), t.Context(), gocql.MustRandomUUID()
	g.server.Record()
	must(t, g.Plan(ctx, at(8, 1)))
	id := order(t, g, customer, at(8, 1), map[string]int{"tea": 1})
	_, err := g.Free(ctx, day)
	must(t, err)
	_, _, err = g.Orders(ctx, customer, 10, nil)
	must(t, err)
	_, err = g.Deliveries(ctx, day, 1)
	must(t, err)
	_, err = g.Pick(ctx, 1, "ann")
	must(t, err)
	must(t, g.Picked(ctx, 1, id, "ann"))
	g.server.AssertNoFullScan(t)
	g.server.AssertPrepared(t)
	for table, n := range g.server.StatementCounts() {
		if n > 6 {
			t.Errorf("%d statements on %s", n, table)
		}
	}
	if dump := g.server.Dump(t, cqltest.DumpNoSchema); strings.Count(dump, "orders_by_customer") != 1 {
		t.Errorf("the tables have\n%s", dump)
	}
}
