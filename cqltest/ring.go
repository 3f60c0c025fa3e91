package cqltest

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/internal/panics"
	"github.com/cqld/cqld/server"
)

// Ring makes the server a ring of nodes in one datacenter, datacenter1. Drivers see a cluster: each node has its own
// address, host id and tokens, and is a replica as the replication of a keyspace demands. All nodes share one store,
// so every replica has the newest data at all times.
//
// Addr is that of the first node. On Linux the nodes have the addresses 127.0.0.1, 127.0.0.2 and so on with one port,
// elsewhere 127.0.0.1 and one port after the other.
func Ring(nodes int) Option { return RingOf(fmt.Sprintf("%s=%d", datacenter, nodes)) }

// datacenter is the datacenter of the nodes of Ring, and of a server without a ring.
const datacenter = "datacenter1"

// RingOf is Ring with datacenters and, if the text names some, racks:
//
//	cqltest.RunT(t, cqltest.RingOf("dc1=3,dc2=3"))
//	cqltest.RunT(t, cqltest.RingOf("dc1:rack1=2,dc1:rack2=1"))
//
// Nodes are numbered in the order of the text. RunT fails the test if the text is wrong.
func RingOf(layout string) Option { return func(c *inside.Config) { c.Layout = layout } }

// openRing returns the nodes that the server starts with, and opens their listeners; none: it is one node alone.
func openRing(c *inside.Config) ([]server.RingNode, error) {
	nodes := slices.Clone(c.Nodes)
	if c.Layout != "" {
		var err error
		if nodes, err = server.ParseRing(c.Layout); err != nil {
			return nil, err
		}
	}
	if nodes == nil {
		return nil, nil
	}
	return nodes, server.ListenRing("127.0.0.1:0", nodes, nil)
}

// ringNodes returns the nodes of the server's ring for a server that is made like it; none: it has no ring.
func (s *Server) ringNodes() (nodes []server.RingNode) {
	r := s.server.Ring()
	if r == nil {
		return nil
	}
	for _, n := range r.Nodes() {
		nodes = append(nodes, server.RingNode{Datacenter: n.Datacenter, Rack: n.Rack, Tokens: n.Tokens})
	}
	return nodes
}

// Node is a node of a server's ring. Its methods return when the change has taken effect and clients that have
// registered for events have been told: no failure detector needs time.
type Node struct {
	ring   *server.Ring
	number int
}

// Node returns a node by its number; the first one is 1. It panics if there is none.
func (s *Server) Node(number int) *Node {
	n := &Node{s.server.Ring(), number}
	if n.ring == nil {
		panic("cqltest: the server has no ring: RunT needs the option Ring or RingOf")
	}
	n.State()
	return n
}

// Nodes returns the nodes of the server's ring in the order of their numbers; none: it has no ring.
func (s *Server) Nodes() (all []*Node) {
	r := s.server.Ring()
	if r == nil {
		return nil
	}
	for _, n := range r.Nodes() {
		all = append(all, &Node{r, n.Number})
	}
	return all
}

// AddNode adds a node to a datacenter, which need not exist yet. Clients get the event NEW_NODE. A rack "" is rack1.
func (s *Server) AddNode(datacenter, rack string) *Node {
	r := s.server.Ring()
	if r == nil {
		panic("cqltest: the server has no ring: RunT needs the option Ring or RingOf")
	}
	n, err := r.Add(datacenter, rack)
	must(err)
	return &Node{r, n.Number}
}

// NodeState is the identity and the state of a node.
type NodeState struct {
	Number           int            // 1 for the first node; numbers of removed nodes are not used again
	Address          netip.AddrPort // that clients connect to
	HostID           string         // a UUID
	Datacenter, Rack string
	Tokens           []int64 // in order

	Stopped     bool          // clients cannot connect, and it is no replica that is alive
	Partitioned bool          // clients can connect, but it and the other nodes do not see each other
	Slow        time.Duration // how much later its answers come, to clients and to the other nodes
}

// State returns the state of the node.
func (n *Node) State() NodeState {
	for _, s := range n.ring.Nodes() {
		if s.Number == n.number {
			return NodeState{
				Number: s.Number, Address: s.Address, HostID: types.FormatUUID(s.HostID), Datacenter: s.Datacenter,
				Rack: s.Rack, Tokens: s.Tokens, Stopped: s.Stopped, Partitioned: s.Partitioned, Slow: s.Slow,
			}
		}
	}
	panic(fmt.Sprintf("cqltest: there is no node %d", n.number))
}

// Number returns the number of the node, as Statement.Node has it.
func (n *Node) Number() int { return n.number }

// Addr returns the address that clients connect to, as host:port.
func (n *Node) Addr() string { return n.State().Address.String() }

// Address returns the address that clients connect to.
func (n *Node) Address() netip.AddrPort { return n.State().Address }

// Stop stops the node as if its process was killed. Its clients lose their connections; clients of the other nodes get
// the event DOWN.
func (n *Node) Stop() { must(n.ring.Stop(n.number)) }

// Start starts the node after Stop, at the same address. It panics if another process has taken the address.
func (n *Node) Start() { must(n.ring.Start(n.number)) }

// Slow makes the node answer later by a duration, both its clients and the nodes that coordinate requests which it is
// a replica of. With Slow(0) it is as fast as the others.
func (n *Node) Slow(by time.Duration) { must(n.ring.Slow(n.number, by)) }

// Partition cuts the connections between the node and the other nodes. Clients still reach it.
func (n *Node) Partition() { must(n.ring.Partition(n.number)) }

// Heal ends a partition.
func (n *Node) Heal() { must(n.ring.Heal(n.number)) }

// Remove removes the node from the ring. Clients of the others get the event REMOVED_NODE.
func (n *Node) Remove() { must(n.ring.Remove(n.number)) }

func must(err error) {
	if err != nil {
		panic("cqltest: " + err.Error())
	}
}

// serve opens the listeners and serves clients.
func (s *Server) serve(nodes []server.RingNode) error {
	if len(nodes) > 0 {
		s.address = nodes[0].Listener.Addr().(*net.TCPAddr)
		s.server.Go(func() { s.served <- panics.Call(s.server.ServeRing) })
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.address = l.Addr().(*net.TCPAddr)
	s.server.Go(func() { s.served <- panics.Call(func() error { return s.server.Serve(l) }) })
	return nil
}
