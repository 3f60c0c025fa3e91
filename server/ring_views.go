package server

import (
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/cqld/cqld/planner/exec/ring"
	"github.com/cqld/cqld/protocol"
)

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

// tell tells the clients of each node what the node sees that it has not seen before. The lock is held.
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
