package server

import (
	"cmp"
	"crypto/md5"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cqld/cqld/planner/exec/ring"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store/system"
)

// RingOptions make a server act as several nodes, which clients see as a cluster: each has an address, a host id and
// tokens. They share one store, so every replica has the newest data at all times.
type RingOptions struct {
	Nodes []RingNode

	// Listen opens the address of a node that is added, or started after it was stopped; nil: net.Listen.
	Listen func(network, address string) (net.Listener, error)
}

// RingNode is a node that the server starts with.
type RingNode struct {
	Datacenter, Rack string
	Tokens           []int64      // nil for all nodes: the ranges are shared out evenly
	Listener         net.Listener // that clients connect to, as ListenRing opens it
}

// NodeState is the identity and the state of a node of a Ring.
type NodeState struct {
	Number           int            // 1 for the first node; numbers of removed nodes are not used again
	Address          netip.AddrPort // that clients connect to
	HostID           [16]byte
	Datacenter, Rack string
	Tokens           []int64 // in order

	Stopped     bool          // clients cannot connect, and it is no replica that is alive
	Partitioned bool          // clients can connect, but it and the other nodes do not see each other
	Slow        time.Duration // how much later its answers come, to clients and to the other nodes
}

// Ring controls the nodes of a server. Its methods may be called concurrently. They return when the nodes have
// changed: no failure detector needs time. Clients that have registered for events get those of Cassandra.
//
// A node is named by its number. An error says that there is no such node, or why its address cannot be opened. To
// bring a node into the state that it is in already does nothing.
type Ring struct {
	server *Server
	listen func(network, address string) (net.Listener, error)

	mu       sync.Mutex
	nodes    []*node // by their numbers
	first    netip.AddrPort
	ports    bool // the nodes differ in their ports, and not in their addresses
	last     int  // the largest number that a node has had
	topology *ring.Topology
}

// Ring returns the nodes of the server; nil: it is one node alone.
func (s *Server) Ring() *Ring { return s.ring }

// ParseRing reads nodes from a text such as "dc1=3,dc2=3": datacenters and how many nodes each has, in their order.
// "dc1:rack1=2,dc1:rack2=1" also names racks; otherwise the rack is rack1.
func ParseRing(text string) ([]RingNode, error) {
	var nodes []RingNode
	for part := range strings.SplitSeq(text, ",") {
		place, count, _ := strings.Cut(strings.TrimSpace(part), "=")
		datacenter, rack, named := strings.Cut(place, ":")
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 || datacenter == "" || named && rack == "" {
			return nil, fmt.Errorf("%q: want datacenters with numbers of nodes, like dc1=3,dc2=3 or dc1:rack1=2,dc1:rack2=1", text)
		}
		if len(nodes)+n > maxNodes {
			return nil, fmt.Errorf("%q: a ring has %d nodes at most", text, maxNodes)
		}
		for range n {
			nodes = append(nodes, RingNode{Datacenter: datacenter, Rack: cmp.Or(rack, system.DefaultRack)})
		}
	}
	return nodes, nil
}

// maxNodes bounds the size of a ring: nodes have one of the addresses 127.0.0.1 to 127.0.0.254 where they can.
const maxNodes = 254

// Nodes returns the nodes in the order of their numbers.
func (r *Ring) Nodes() []NodeState {
	r.mu.Lock()
	defer r.mu.Unlock()
	states := make([]NodeState, len(r.nodes))
	for i, n := range r.nodes {
		states[i] = n.state()
	}
	return states
}

// state returns the state of the node. The lock of the ring is held.
func (n *node) state() NodeState {
	return NodeState{
		Number: n.Number, Address: n.Address, HostID: n.HostID, Datacenter: n.Datacenter, Rack: n.Rack,
		Tokens: slices.Clone(n.Tokens), Stopped: n.listener == nil, Partitioned: n.partitioned, Slow: n.delay,
	}
}

// Stop stops a node as if its process was killed: its connections are closed, and requests that are not answered yet
// get no answer. Its statements stay prepared, as Cassandra's do.
func (r *Ring) Stop(number int) error {
	return r.change(number, func(n *node) error {
		n.stop()
		return nil
	})
}

// Start starts a node that was stopped, at its address.
func (r *Ring) Start(number int) error {
	return r.change(number, func(n *node) error {
		if n.listener != nil {
			return nil
		}
		l, err := r.listen("tcp", n.Address.String())
		if err != nil {
			return err
		}
		return r.server.startAccepting(n, l)
	})
}

// Slow makes the answers of a node come later by a duration: to its clients, and to the nodes that coordinate requests
// which it is a replica of. 0 makes it as fast as the others.
func (r *Ring) Slow(number int, by time.Duration) error {
	return r.change(number, func(n *node) error {
		n.delay = max(by, 0)
		return nil
	})
}

// Partition cuts the connections between a node and all others. Clients still reach it.
func (r *Ring) Partition(number int) error {
	return r.change(number, func(n *node) error {
		n.partitioned = true
		return nil
	})
}

// Heal ends a partition.
func (r *Ring) Heal(number int) error {
	return r.change(number, func(n *node) error {
		n.partitioned = false
		return nil
	})
}

// Add adds a node to a datacenter, which need not exist yet; rack "" is rack1. Its tokens halve the largest ranges of
// the datacenter. It gets the address after that of the node with the largest number. An added node is forgotten when
// the server ends.
func (r *Ring) Add(datacenter, rack string) (NodeState, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.nodes) == maxNodes {
		return NodeState{}, fmt.Errorf("a ring has %d nodes at most", maxNodes)
	}
	if datacenter == "" {
		return NodeState{}, errors.New("the datacenter has no name")
	}
	address := nodeAddress(r.first, r.last, r.ports)
	l, err := r.listen("tcp", address.String())
	if err != nil {
		return NodeState{}, err
	}
	r.last++
	about := &ring.Node{
		Number: r.last, Address: address, HostID: r.hostID(r.last),
		Datacenter: datacenter, Rack: cmp.Or(rack, system.DefaultRack), Tokens: r.topology.Join(datacenter),
	}
	n := r.server.newNode(about)
	before := r.views()
	if err := r.server.startAccepting(n, l); err != nil {
		return NodeState{}, err
	}
	r.nodes = append(slices.Clone(r.nodes), n)
	r.renew()
	r.tell(before)
	return n.state(), nil
}

// Remove removes a node, as if it was decommissioned: others own its token ranges. The last node stays.
func (r *Ring) Remove(number int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.nodes, func(n *node) bool { return n.Number == number })
	switch {
	case i < 0:
		return fmt.Errorf("there is no node %d", number)
	case len(r.nodes) == 1:
		return errors.New("the last node cannot be removed")
	}
	before := r.views()
	n := r.nodes[i]
	r.nodes = slices.Delete(slices.Clone(r.nodes), i, i+1)
	r.renew()
	n.stop()
	r.tell(before)
	return nil
}

// change applies a change to a node, renews the views of all nodes and tells clients.
func (r *Ring) change(number int, apply func(*node) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.nodes, func(n *node) bool { return n.Number == number })
	if i < 0 {
		return fmt.Errorf("there is no node %d", number)
	}
	before := r.views()
	if err := apply(r.nodes[i]); err != nil {
		return err
	}
	r.renew()
	r.tell(before)
	return nil
}

// hostID returns the host id of a node: that of the store for the first one, and ids that follow from it.
func (r *Ring) hostID(number int) [16]byte {
	id := r.server.store.HostID()
	if number > 1 {
		id = md5.Sum(append(id[:], strconv.Itoa(number)...))
		id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // a random UUID, as Cassandra's are
	}
	return id
}

// Next returns the number of the node that is added next.
func (r *Ring) Next() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last + 1
}

// startRing makes the nodes of a ring, which share out the tokens and are all up.
func (s *Server) startRing(o *RingOptions) *Ring {
	r := &Ring{server: s, listen: o.Listen, last: len(o.Nodes)}
	if r.listen == nil {
		r.listen = net.Listen
	}
	var abouts []*ring.Node
	for i, n := range o.Nodes {
		about := &ring.Node{
			Number: i + 1, HostID: r.hostID(i + 1), Address: addrPort(n.Listener.Addr()),
			Datacenter: n.Datacenter, Rack: n.Rack, Tokens: slices.Sorted(slices.Values(n.Tokens)),
		}
		abouts = append(abouts, about)
		own := s.newNode(about)
		own.listener = n.Listener
		r.nodes = append(r.nodes, own)
	}
	if abouts[0].Tokens == nil {
		ring.ShareOut(abouts)
	}
	r.first = abouts[0].Address
	r.ports = len(abouts) > 1 && abouts[1].Address.Addr() == r.first.Addr()
	r.renew()
	return r
}

// renew gives each node a view of the ring as it is. The lock is held.
func (r *Ring) renew() {
	abouts := make([]*ring.Node, len(r.nodes))
	slow := false
	for i, n := range r.nodes {
		abouts[i] = n.Node
		slow = slow || n.delay > 0
	}
	if r.topology == nil || !slices.Equal(r.topology.Nodes, abouts) {
		r.topology = ring.New(abouts)
	}
	for self, n := range r.nodes {
		v := &ring.View{Topology: r.topology, Self: self, Up: make([]bool, len(r.nodes)), Own: n.delay}
		if slow {
			v.Delay = make([]time.Duration, len(r.nodes))
		}
		for i, other := range r.nodes {
			v.Up[i] = i == self || other.listener != nil && !other.partitioned && !n.partitioned
			if slow && i != self {
				v.Delay[i] = other.delay
			}
		}
		n.view.Store(v)
	}
}

// views returns how the nodes see the ring. The lock is held.
func (r *Ring) views() map[*node]*ring.View {
	all := make(map[*node]*ring.View)
	for _, n := range r.nodes {
		all[n] = n.view.Load()
	}
	return all
}

// tell sends the clients of each node events about the changes of its view. The lock is held.
func (r *Ring) tell(before map[*node]*ring.View) {
	for _, n := range r.nodes {
		if old := before[n]; old != nil {
			if events := changes(old, n.view.Load()); len(events) > 0 {
				r.server.send(events, func(c *conn) bool { return c.node == n })
			}
		}
	}
}

// changes returns the events that tell of the difference between two views of a node.
func changes(old, now *ring.View) (events []protocol.Event) {
	add := func(kind protocol.EventType, change string, node netip.AddrPort) {
		events = append(events, protocol.Event{Type: kind, Change: change, Node: node})
	}
	for i, n := range old.Nodes {
		at := slices.Index(now.Nodes, n)
		switch {
		case at < 0:
			add(protocol.TopologyChange, "REMOVED_NODE", n.Address)
		case old.Up[i] && !now.Up[at]:
			add(protocol.StatusChange, "DOWN", n.Address)
		case !old.Up[i] && now.Up[at]:
			add(protocol.StatusChange, "UP", n.Address)
		}
	}
	for i, n := range now.Nodes {
		if slices.Contains(old.Nodes, n) {
			continue
		}
		add(protocol.TopologyChange, "NEW_NODE", n.Address)
		if now.Up[i] {
			add(protocol.StatusChange, "UP", n.Address)
		}
	}
	return events
}
