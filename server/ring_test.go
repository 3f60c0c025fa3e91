package server_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
)

// connectTo opens a connection to a node that is closed with the test.
func connectTo(t *testing.T, n *cqltest.Node) *client.Conn {
	t.Helper()
	c, err := client.Dial(testContext(t), n.Addr(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// expectNodeEvents expects events about nodes, in order.
func expectNodeEvents(t *testing.T, c *client.Conn, events ...string) {
	t.Helper()
	for _, want := range events {
		e, err := c.NextEvent(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s %s %s", e.Type, e.Change, e.Node); got != want {
			t.Errorf("the event is %s, want %s", got, want)
		}
	}
}

// Clients of a node are told what it sees of the other nodes, and clients of a stopped node lose their connections.
func TestNodeEvents(t *testing.T) {
	s := cqltest.RunT(t, cqltest.RingOf("dc1=2,dc2=1"))
	first, second, third := s.Node(1), s.Node(2), s.Node(3)
	var conns [3]*client.Conn
	for i, n := range s.Nodes() {
		conns[i] = connectTo(t, n)
		if err := conns[i].Register(testContext(t), protocol.StatusChange, protocol.TopologyChange); err != nil {
			t.Fatal(err)
		}
	}
	second.Stop()
	if _, err := net.Dial("tcp", second.Addr()); err == nil {
		t.Error("a stopped node can be connected to")
	}
	if _, err := conns[1].Supported(testContext(t)); err == nil {
		t.Error("a stopped node answers")
	}
	second.Stop()
	second.Start()
	down, up := "STATUS_CHANGE DOWN ", "STATUS_CHANGE UP "
	expectNodeEvents(t, conns[0], down+second.Addr(), up+second.Addr())
	expectNodeEvents(t, conns[2], down+second.Addr(), up+second.Addr())
	conns[1] = connectTo(t, second)
	if err := conns[1].Register(testContext(t), protocol.StatusChange); err != nil {
		t.Fatal(err)
	}

	third.Partition()
	expectNodeEvents(t, conns[2], down+first.Addr(), down+second.Addr())
	expectNodeEvents(t, conns[0], down+third.Addr())
	third.Heal()
	expectNodeEvents(t, conns[2], up+first.Addr(), up+second.Addr())
	expectNodeEvents(t, conns[1], down+third.Addr(), up+third.Addr())

	added := s.AddNode("dc2", "")
	if added.Number() != 4 {
		t.Errorf("the added node has number %d", added.Number())
	}
	connectTo(t, added)
	addr := added.Addr()
	added.Remove()
	expectNodeEvents(t, conns[0], up+third.Addr(), "TOPOLOGY_CHANGE NEW_NODE "+addr, up+addr, "TOPOLOGY_CHANGE REMOVED_NODE "+addr)
	expectNodeEvents(t, conns[1], up+addr) // it has not registered for the others
	if again := s.AddNode("dc3", "r"); again.Number() != 5 || again.Addr() == addr {
		t.Errorf("the next node has number %d and address %s", again.Number(), again.Addr())
	}
}

// The layout of a ring is text.
func TestParseRing(t *testing.T) {
	nodes, err := server.ParseRing("dc1:r1=1, dc1:r2=2,dc2=1")
	got := ""
	for _, n := range nodes {
		got += n.Datacenter + ":" + n.Rack + " "
	}
	if want := "dc1:r1 dc1:r2 dc1:r2 dc2:rack1 "; got != want || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	for _, text := range []string{"", "3", "dc1", "dc1=0", "dc1=-1", "=3", "dc1:=3", ":r=1", "dc1=3,", "dc1=300", "dc1=x"} {
		if nodes, err := server.ParseRing(text); err == nil {
			t.Errorf("%q: %v", text, nodes)
		}
	}
}
