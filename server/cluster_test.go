package server_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/internal/nodes"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// dialNode connects to a node of a cluster.
func dialNode(t testing.TB, n *nodes.Node) *client.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := client.Dial(ctx, n.Addr(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// ask runs a statement and returns its rows as text.
func ask(t testing.TB, c *client.Conn, text string) []string {
	t.Helper()
	rows, err := tryAsk(c, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return rows
}

// tryAsk is ask for statements that may fail.
func tryAsk(c *client.Conn, text string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	result, err := c.Query(ctx, text, nil, nil)
	if err != nil {
		return nil, err
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
	return rows, nil
}

const clusterKeyspace = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"

func TestClusterDefinitions(t *testing.T) {
	c := nodes.RunT(t, 3, nodes.Options{})
	var conns []*client.Conn
	for _, n := range c.Nodes() {
		conns = append(conns, dialNode(t, n))
	}
	ctx := testContext(t)
	if err := conns[2].Register(ctx, protocol.SchemaChanges); err != nil {
		t.Fatal(err)
	}
	ask(t, conns[0], clusterKeyspace)
	ask(t, conns[1], "CREATE TABLE k.t (a int PRIMARY KEY, b int)")
	for _, want := range []string{"CREATED KEYSPACE k ", "CREATED TABLE k t"} {
		e, err := conns[2].NextEvent(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s %s %s %s", e.Schema.Change, e.Schema.Target, e.Schema.Keyspace, e.Schema.Name); got != want {
			t.Errorf("the event is %s, want %s", got, want)
		}
	}
	ask(t, conns[2], "INSERT INTO k.t (a, b) VALUES (1, 10)")
	prepared, err := conns[2].Prepare(ctx, "SELECT * FROM k.t WHERE a = 1", "")
	if err != nil {
		t.Fatal(err)
	}
	ask(t, conns[0], "ALTER TABLE k.t ADD c int")
	ask(t, conns[1], "UPDATE k.t SET c = 100 WHERE a = 1")
	result, err := conns[2].Execute(ctx, prepared, nil, nil)
	if err != nil || len(result.Rows) != 1 || len(result.Rows[0]) != 3 {
		t.Errorf("the prepared statement returns %v, %v", result, err)
	}
	if _, err := tryAsk(conns[2], "CREATE TABLE k.t (a int PRIMARY KEY)"); err == nil {
		t.Error("a table that another node has created can be created again")
	}
	eventually(t, "all nodes show the same definitions", func() bool {
		versions := map[string]bool{}
		for _, conn := range conns {
			for _, table := range []string{"local", "peers_v2"} {
				for _, version := range ask(t, conn, "SELECT schema_version FROM system."+table) {
					versions[version] = true
				}
			}
		}
		return len(versions) == 1
	})
	ask(t, conns[0], "TRUNCATE k.t")
	ask(t, conns[1], "INSERT INTO k.t (a, b) VALUES (2, 20)")
	if got := ask(t, conns[2], "SELECT a, b, c FROM k.t"); !slices.Equal(got, []string{"2 20 null"}) {
		t.Errorf("after TRUNCATE there is %v", got)
	}
	ask(t, conns[1], "DROP TABLE k.t")
	if _, err := tryAsk(conns[2], "SELECT * FROM k.t"); err == nil {
		t.Error("a table that another node has dropped is read")
	}
}

func TestClusterMembers(t *testing.T) {
	t.Parallel()
	c := nodes.RunT(t, 2, nodes.Options{Forget: 1500 * time.Millisecond, Down: 700 * time.Millisecond})
	first := dialNode(t, c.Node(0))
	if err := first.Register(testContext(t), protocol.StatusChange, protocol.TopologyChange); err != nil {
		t.Fatal(err)
	}
	peers := func() []string { return ask(t, first, "SELECT native_port FROM system.peers_v2") }
	port := func(n *nodes.Node) string { return fmt.Sprint(netip.MustParseAddrPort(n.Addr()).Port()) }
	expect := func(events ...string) {
		t.Helper()
		expectNodeEvents(t, first, events...)
	}
	eventually(t, "the second node is seen", func() bool { return slices.Equal(peers(), []string{port(c.Node(1))}) })
	third := c.Add()
	seen := "TOPOLOGY_CHANGE NEW_NODE " + c.Node(1).Addr()
	e, err := first.NextEvent(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%s %s %s", e.Type, e.Change, e.Node)
	if got == seen { // the first node had not noticed it before the client registered
		expect("STATUS_CHANGE UP "+c.Node(1).Addr(), "TOPOLOGY_CHANGE NEW_NODE "+third.Addr())
	} else if got != "TOPOLOGY_CHANGE NEW_NODE "+third.Addr() {
		t.Errorf("the event is %s", got)
	}
	expect("STATUS_CHANGE UP " + third.Addr())
	tokens := strings.Join(append(ask(t, first, "SELECT tokens FROM system.local"), ask(t, first, "SELECT tokens FROM system.peers_v2")...), ", ")
	if n := strings.Count(tokens, "'"); n != 2*3*16 {
		t.Errorf("the nodes have %d tokens: %s", n/2, tokens)
	}
	c.Node(1).Pause()
	expect("STATUS_CHANGE DOWN " + c.Node(1).Addr())
	c.Node(1).Resume()
	expect("STATUS_CHANGE UP " + c.Node(1).Addr())

	id := ask(t, first, "SELECT host_id FROM system.peers_v2 WHERE peer = '127.0.0.1'")
	third.Kill()
	expect("STATUS_CHANGE DOWN " + third.Addr())
	third.Start()
	expect("STATUS_CHANGE UP " + third.Addr())
	if again := ask(t, first, "SELECT host_id FROM system.peers_v2 WHERE peer = '127.0.0.1'"); !slices.Equal(id, again) {
		t.Errorf("a node that starts again has another host id: %v, %v", id, again)
	}
	third.Stop()
	expect("STATUS_CHANGE DOWN "+third.Addr(), "TOPOLOGY_CHANGE REMOVED_NODE "+third.Addr())
	if got := peers(); !slices.Equal(got, []string{port(c.Node(1))}) {
		t.Errorf("the peers are %v", got)
	}
	if l, err := net.Listen("tcp", third.Addr()); err == nil {
		_ = l.Close()
	}
}
