package shell

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol/client/model"
)

// shop is a schema for commands that describe one.
const shop = `
CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
CREATE TYPE shop.address (street text);
CREATE TABLE shop.orders (customer int, day date, line int, note text static, item text, at frozen<address>,
	PRIMARY KEY ((customer, day), line)) WITH CLUSTERING ORDER BY (line DESC) AND comment = 'orders';
CREATE INDEX orders_item ON shop.orders (item);
`

// runLines runs lines on a server and returns their output, including errors.
func runLines(t *testing.T, addr string, lines ...string) string {
	t.Helper()
	var out bytes.Buffer
	o := options(addr, &out, &out)
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, line := range lines {
		if _, err := s.Feed(t.Context(), line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func TestPlan(t *testing.T) {
	addr := cqltest.RunT(t).Addr()
	if out := runLines(t, addr, shop); strings.Contains(out, "<stdin>:") {
		t.Fatal(out)
	}
	for _, test := range []struct{ query, want string }{
		{
			"SELECT * FROM shop.orders WHERE customer IN (1, 2) AND day = '2024-01-01' AND line > 3",
			"Partitions  2\nRows        a slice of each: line > 3\nCost        at ONE 1 of 3 replicas for each of " +
				"2 partitions\n",
		},
		{
			"SELECT * FROM shop.orders WHERE customer = 1 AND day = '2024-01-01' AND line = 3",
			"Partitions  1\nRows        one row for each key: line = 3\n",
		},
		{"SELECT * FROM shop.orders WHERE item = 'x'", "Partitions  those that the index finds\nRows        all " +
			"rows of each\nIndex       orders_item (COMPOSITES) for item = 'x'\n"},
		{"SELECT * FROM shop.orders WHERE note = 'x' ALLOW FILTERING", "Filter      note = 'x'\nCost        at ONE " +
			"1 of 3 replicas of each range of tokens\nSlow        every partition"},
		{"SELECT * FROM shop.orders WHERE token(customer, day) > 5", "Partitions  those of a range of tokens\n"},
		{"SELECT * FROM system.local", "local to this node"},
		{"SELECT * FROM shop.nope", "There is no table nope in the keyspace shop."},
		{"SELEC", "no viable alternative at input 'SELEC'"},
		{"DELETE FROM shop.orders WHERE customer = 1", `\plan explains SELECT.`},
	} {
		if out := runLines(t, addr, `\plan `+test.query); !strings.Contains(out, test.want) {
			t.Errorf("%s:\n%s\nwant\n%s", test.query, out, test.want)
		}
	}
}

func TestDiagram(t *testing.T) {
	addr := cqltest.RunT(t).Addr()
	if out := runLines(t, addr, shop); strings.Contains(out, "<stdin>:") {
		t.Fatal(out)
	}
	want := `┌ orders ────────────────────────────────────┐
│ customer  int              K               │
│ day       date             K               │
│ line      int              C↓              │
│ note      text             S               │
│ *at*      frozen<address>                  │
│ item      text             IDX orders_item │
└────────────────────────────────────────────┘

┌ *address* ───┐
│ street  text │
└──────────────┘

K partition key · C↓ clustering, descending · S static · IDX indexed · *user-defined type*
`
	if out := runLines(t, addr, "USE shop;", `\diagram`); out != want {
		t.Errorf("%s\nwant\n%s", out, want)
	}
}

// TestDiff applies the difference between two schemas, after which there is none.
func TestDiff(t *testing.T) {
	t.Chdir(t.TempDir())
	changed := strings.NewReplacer("street text", "street text, zip int", "item text,", "item text, price decimal,",
		"note text static, ", "",
		"'orders'", "'all orders'", "orders_item ON", "orders_price ON", "(item)", "(price)", "factor': 3",
		"factor': 1").Replace(shop)
	changed += "USE shop; CREATE TABLE IF NOT EXISTS extra (k int PRIMARY KEY);"
	if err := os.WriteFile("wanted.cql", []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	addr, other := cqltest.RunT(t).Addr(), cqltest.RunT(t).Addr()
	if out := runLines(t, addr, shop, "CREATE KEYSPACE kept WITH replication = {'class': 'SimpleStrategy', "+
		"'replication_factor': 1};"); strings.Contains(out, "<stdin>:") {
		t.Fatal(out)
	}
	out := runLines(t, addr, `\diff wanted.cql`)
	want := `DROP INDEX shop.orders_item;
ALTER KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
ALTER TYPE shop.address ADD zip int;
ALTER TABLE shop.orders DROP note;
ALTER TABLE shop.orders ADD price decimal;
ALTER TABLE shop.orders WITH comment = 'all orders';
CREATE INDEX orders_price ON shop.orders (price);
CREATE TABLE shop.extra (k int PRIMARY KEY);
`
	if out != want {
		t.Fatalf("%s\nwant\n%s", out, want)
	}
	if failed := runLines(t, addr, out); strings.Contains(failed, "<stdin>:") {
		t.Fatal(failed)
	}
	if again := runLines(t, addr, `\diff wanted.cql`); again != "The schemas are equal.\n" {
		t.Errorf("afterwards: %s", again)
	}
	all := runLines(t, other, `\diff `+addr)
	if failed := runLines(t, other, all); strings.Contains(failed, "<stdin>:") {
		t.Fatalf("%s\nfails with %s", all, failed)
	}
	for _, of := range [][2]string{{addr, other}, {other, addr}} {
		if again := runLines(t, of[0], `\diff `+of[1]); again != "The schemas are equal.\n" {
			t.Errorf("the servers differ: %s", again)
		}
	}
	if out := runLines(t, addr, `\diff nowhere:1`); !strings.Contains(out, "nowhere:1 is no file, and no server") {
		t.Error(out)
	}
}

// TestWatch repeats a statement until it is cancelled.
func TestWatch(t *testing.T) {
	server := cqltest.RunT(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &cancelling{after: 3, cancel: cancel}
	var errs bytes.Buffer
	o := options(server.Addr(), nil, &errs)
	o.Out = out
	s, err := Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Feed(ctx, "\\watch 1ms SELECT key FROM system.local\n"); err != nil && !errors.Is(err,
		context.Canceled) {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "(1 rows)"); n < 3 || errs.Len() > 0 {
		t.Errorf("%d results, errors %s", n, errs.String())
	}
}

// cancelling cancels when some results were written.
type cancelling struct {
	bytes.Buffer
	after  int
	cancel func()
}

// Write appends to the buffer.
func (c *cancelling) Write(b []byte) (int, error) {
	if c.after -= bytes.Count(b, []byte("rows)")); c.after <= 0 {
		c.cancel()
	}
	return c.Buffer.Write(b)
}

// TestMissingTables uses servers without tables that every server is said to have.
func TestMissingTables(t *testing.T) {
	for _, test := range []struct{ table, command, want string }{
		{"system.peers", "SHOW REPLICAS 5 system_auth", "['127.0.0.1']\n"},
		{"system.local", "SHOW VERSION", "| Cassandra unknown |"},
	} {
		addr := cqltest.RunT(t, cqltest.WithInterceptor(func(_ context.Context, r *cqltest.Request) cqltest.Act {
			if strings.Contains(strings.Join(r.Statements, " "), test.table) {
				return cqltest.Fail(cqlerr.Invalidf("unconfigured table"))
			}
			return cqltest.Act{}
		})).Addr()
		if out := runLines(t, addr, test.command); !strings.Contains(out, test.want) {
			t.Errorf("%s without %s:\n%s", test.command, test.table, out)
		}
	}
}

// TestTimeline draws the steps of a trace.
func TestTimeline(t *testing.T) {
	addr := cqltest.RunT(t).Addr()
	out := runLines(t, addr, shop, "TRACING TREE", "SELECT * FROM shop.orders;", "TRACING OFF")
	for _, want := range []string{"TRACING set to TREE\n", "(coordinator)\n", "├", "█", "┤", "Tracing session: "} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %s in\n%s", want, out)
		}
	}
}

// TestMonitor lists statements of other clients.
func TestMonitor(t *testing.T) {
	if got := model.Form("SELECT  a FROM t WHERE k = 'x' AND c IN (1, 2);"); got != "SELECT a FROM t WHERE k = ? AND c "+
		"IN (?, ?)" {
		t.Errorf("%q", got)
	}
	if out := runLines(t, cqltest.RunT(t).Addr(), `\top`); !strings.Contains(out, "--test-controls") {
		t.Error(out)
	}
	addr := cqltest.RunT(t, cqltest.WithControls()).Addr()
	if out := runLines(t, addr, shop, "SELECT * FROM shop.orders;", "SELECT * FROM shop.orders LIMIT 1;",
		"SELECT * FROM shop.orders LIMIT 2;"); strings.Contains(out, "<stdin>:") {
		t.Fatal(out)
	}
	out := runLines(t, addr, `\top`)
	for _, want := range []string{"        3          0          0  shop.orders\n", "        2          0          " +
		"0  SELECT * FROM shop.orders LIMIT ?\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	live := &cancelling{after: 1, cancel: cancel}
	var errs bytes.Buffer
	o := options(addr, nil, &errs)
	o.Out = live
	s, err := Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := s.Feed(ctx, "\\live\n")
		ended <- err
	}()
	for len(ended) == 0 && ctx.Err() == nil {
		runLines(t, addr, "SELECT line AS \"(rows)\" FROM shop.orders;")
	}
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) || !strings.Contains(live.String(),
		`SELECT line AS "(rows)" FROM shop.orders`) {
		t.Errorf("%s%s, error %v", live.String(), errs.String(), err)
	}
}
