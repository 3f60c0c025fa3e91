package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cqld/cqld/cluster/tikv/tikvtest"
	"github.com/cqld/cqld/command"
	"github.com/cqld/cqld/protocol/client"
)

// dial connects to a server.
func dial(t *testing.T, p *program) *client.Conn {
	t.Helper()
	c, err := client.Dial(t.Context(), p.addr, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// ask runs a statement and returns its rows as text, in order.
func ask(t *testing.T, c *client.Conn, text string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	result, err := c.Query(ctx, text, nil, nil)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	rows := []string{}
	for _, cells := range result.Rows {
		row := make([]string, len(cells))
		for i, cell := range cells {
			if row[i] = "null"; cell != nil {
				row[i] = strings.Trim(result.Columns[i].Type.Format(cell), "'")
			}
		}
		rows = append(rows, strings.Join(row, " "))
	}
	slices.Sort(rows)
	return rows
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it does not come about that %s", what)
		}
	}
}

// states returns the nodes as cqld nodes prints them: state, address, datacenter and rack.
func states(t *testing.T, p *program) (all []string) {
	t.Helper()
	var out, errs bytes.Buffer
	run := command.Program{
		Args: []string{"nodes", p.addr}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
	}
	if code := run.Run(t.Context()); code != 0 {
		t.Fatalf("the nodes are not printed: %s", &errs)
	}
	for line := range strings.Lines(out.String()) {
		if words := strings.Fields(line); words[0] != "STATE" {
			all = append(all, strings.Join(words[:4], " "))
		}
	}
	slices.Sort(all)
	return all
}

// TestNodes runs three servers of a cluster, writes on all of them, kills one and stops another one.
func TestNodes(t *testing.T) {
	c := tikvtest.New(t, 3)
	c.Clock.Step = 50 * time.Millisecond // as PD moves its clock
	var programs []*program
	var conns []*client.Conn
	for i := range 3 {
		p := serve(t, c, "--rack", fmt.Sprint("rack", i+1), "--down-after", "3s")
		programs, conns = append(programs, p), append(conns, dial(t, p))
	}
	for i, conn := range conns {
		eventually(t, "a server has two peers", func() bool {
			return len(ask(t, conn, "SELECT native_port FROM system.peers_v2")) == 2
		})
		if got := ask(t, conn, "SELECT rack FROM system.local"); !slices.Equal(got, []string{fmt.Sprint("rack", i+1)}) {
			t.Errorf("server %d is in %v", i+1, got)
		}
	}

	ask(t, conns[0], "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	ask(t, conns[1], "CREATE TABLE k.t (a int, b int, c text, PRIMARY KEY (a, b))")
	ask(t, conns[2], "CREATE TABLE k.n (a int PRIMARY KEY, n counter)")
	var want []string
	for i := range 12 {
		ask(t, conns[i%3], fmt.Sprintf("INSERT INTO k.t (a, b, c) VALUES (%d, %d, 'row %[2]d')", i%2, i))
		if i != 5 {
			want = append(want, fmt.Sprintf("%d %d row %[2]d", i%2, i))
		}
	}
	ask(t, conns[1], "DELETE FROM k.t WHERE a = 1 AND b = 5")
	slices.Sort(want)
	for i, conn := range conns {
		if got := ask(t, conn, "SELECT * FROM k.t"); !slices.Equal(got, want) {
			t.Errorf("server %d has %q, want %q", i+1, got, want)
		}
	}

	addOnAll(t, programs)
	for i, conn := range conns {
		if got := ask(t, conn, "SELECT n FROM k.n WHERE a = 1"); !slices.Equal(got, []string{"30"}) {
			t.Errorf("server %d has the counter %v, want 30", i+1, got)
		}
		if got := ask(t, conn, "SELECT c FROM k.t WHERE a = 7 AND b = 0"); !slices.Equal(got, []string{"15"}) {
			t.Errorf("server %d has the sum %v, want 15", i+1, got)
		}
	}

	writeInTurn(t, conns)

	name := func(i int) string { return programs[i].addr + fmt.Sprint(" datacenter1 rack", i+1) }
	show := func(want ...string) func() bool {
		slices.Sort(want)
		return func() bool { return slices.Equal(states(t, programs[0]), want) }
	}
	eventually(t, "all servers are up", show("up "+name(0), "up "+name(1), "up "+name(2)))
	programs[2].kill()
	ask(t, conns[1], "INSERT INTO k.t (a, b, c) VALUES (8, 0, 'killed')")
	ask(t, conns[0], "CREATE TABLE k.later (a int PRIMARY KEY)") // waits for the lease of the killed one to end
	ask(t, conns[1], "INSERT INTO k.later (a) VALUES (1)")
	eventually(t, "the server that was killed is down", show("up "+name(0), "up "+name(1), "down "+name(2)))
	if got := ask(t, conns[0], "SELECT c FROM k.t WHERE a = 8"); !slices.Equal(got, []string{"killed"}) {
		t.Errorf("after one was killed there is %v", got)
	}
	programs[1].end()
	eventually(t, "the server that has ended is down", show("up "+name(0), "down "+name(1), "down "+name(2)))
	if got := ask(t, conns[0], "SELECT a FROM k.later"); !slices.Equal(got, []string{"1"}) {
		t.Errorf("the last server has %v", got)
	}
}

// writeInTurn writes to a row and a list, each time on another server than before, with conditions and without. Each
// write is later than the one before it.
func writeInTurn(t *testing.T, conns []*client.Conn) {
	t.Helper()
	ask(t, conns[0], "CREATE TABLE k.turns (a int, b int, c text, l list<int>, PRIMARY KEY (a, b))")
	n := 0
	next := func(text string) {
		t.Helper()
		n++
		if got := ask(t, conns[n%3], text); len(got) > 0 && got[0] != "true" {
			t.Errorf("%s: not applied: %q", text, got)
		}
	}
	var list []string
	for i := range 3 {
		next(fmt.Sprintf("INSERT INTO k.turns (a, b, c) VALUES (1, 1, 'plain %d')", i))
		next(fmt.Sprintf("UPDATE k.turns SET c = 'conditional' WHERE a = 1 AND b = 1 IF c = 'plain %d'", i))
		next("UPDATE k.turns SET c = 'again' WHERE a = 1 AND b = 1 IF c = 'conditional'")
		next("UPDATE k.turns SET c = 'plain' WHERE a = 1 AND b = 1")
		next("DELETE FROM k.turns WHERE a = 1 AND b = 1 IF c = 'plain'")
		next("INSERT INTO k.turns (a, b, c) VALUES (1, 1, 'new') IF NOT EXISTS")
		next(fmt.Sprintf("UPDATE k.turns SET l = l + [%d] WHERE a = 1 AND b = 2 IF c = null", 2*i))
		next(fmt.Sprintf("UPDATE k.turns SET l = l + [%d] WHERE a = 1 AND b = 2 IF c = null", 2*i+1))
		list = append(list, fmt.Sprint(2*i), fmt.Sprint(2*i+1))
		// The second statement writes a row that was not read.
		next(fmt.Sprintf("INSERT INTO k.turns (a, b, c) VALUES (1, 3, 'plain %d')", i))
		next(fmt.Sprintf("BEGIN BATCH UPDATE k.turns SET c = 'read' WHERE a = 1 AND b = 1 IF c = 'new'; "+
			"INSERT INTO k.turns (a, b, c) VALUES (1, 3, 'batch %d'); APPLY BATCH", i))
		if got, want := ask(t, conns[(n+1)%3], "SELECT c FROM k.turns WHERE a = 1 AND b IN (1, 3)"),
			[]string{fmt.Sprint("batch ", i), "read"}; !slices.Equal(got, want) {
			t.Errorf("there is %q, want %q", got, want)
		}
	}
	want := []string{"[" + strings.Join(list, ", ") + "]"}
	if got := ask(t, conns[0], "SELECT JSON l FROM k.turns WHERE a = 1 AND b = 2"); !strings.Contains(got[0], want[0]) {
		t.Errorf("the list is %q, want %q", got, want)
	}
}

// addOnAll adds 10 to a counter and 5 to a sum on each server, all at the same time. The sum is changed by conditional
// updates.
func addOnAll(t *testing.T, programs []*program) {
	t.Helper()
	ask(t, dial(t, programs[0]), "INSERT INTO k.t (a, b, c) VALUES (7, 0, '0')")
	var adding sync.WaitGroup
	for _, p := range programs {
		counting, conditional := dial(t, p), dial(t, p)
		try := func(conn *client.Conn, text string) (row string, ok bool) {
			result, err := conn.Query(t.Context(), text, nil, nil)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				return "", false
			}
			if len(result.Rows) == 0 {
				return "", true
			}
			return string(bytes.Join(result.Rows[0], []byte(" "))), true
		}
		adding.Go(func() {
			for range 10 {
				try(counting, "UPDATE k.n SET n = n + 1 WHERE a = 1")
			}
		})
		adding.Go(func() {
			for added := 0; added < 5; {
				sum, ok := try(conditional, "SELECT c FROM k.t WHERE a = 7 AND b = 0")
				var n int
				if _, err := fmt.Sscan(sum, &n); !ok || err != nil {
					t.Errorf("the sum is %q", sum)
					return
				}
				applied, ok := try(conditional, fmt.Sprintf("UPDATE k.t SET c = '%d' WHERE a = 7 AND b = 0 IF c = '%d'", n+1, n))
				if !ok {
					return
				}
				if applied[0] == 1 {
					added++
				}
			}
		})
	}
	adding.Wait()
}
