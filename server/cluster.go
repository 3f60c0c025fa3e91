package server

import (
	"slices"
	"sync"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/exec/ring"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/cluster"
	"github.com/cqld/cqld/store/system"
)

// A server whose store is a node of a cluster shows the other nodes to clients, and sends events when nodes come or go
// and when they change definitions. The ring is for drivers only: each node serves all rows, and consistency levels
// ignore the nodes.

// clusterView is the cluster as clients see it.
type clusterView struct {
	own   [16]byte // the host id of this node
	mu    sync.Mutex
	nodes map[[16]byte]*ring.Node // by host id; they stay the same while nothing of them changes
	view  *ring.View              // with this node
	all   []cluster.State
}

// ClusterTokens chooses the tokens of a node that joins a cluster, as cluster.Options want it: in its datacenter it
// takes half of the largest ranges.
func ClusterTokens(datacenter string, others []cluster.Member) []int64 {
	nodes := make([]*ring.Node, len(others))
	for i := range others {
		m := &others[i]
		nodes[i] = &ring.Node{Number: m.Number, Datacenter: m.Datacenter, Rack: m.Rack, Tokens: m.Tokens}
	}
	return ring.New(nodes).Join(datacenter)
}

// joinCluster makes the server follow the cluster of its store.
func (s *Server) joinCluster(n *cluster.Node) {
	s.cluster = &clusterView{own: n.HostID(), nodes: map[[16]byte]*ring.Node{}}
	n.Watch(s.followCluster)
	s.followCluster(n.Members())
	s.store.OnFollow(func(before, after *schema.Catalog) {
		changes := schema.Difference(before, after)
		s.schemaChanged(changes)
		s.publish(changes)
	})
}

// followCluster shows clients the nodes, and sends events about the nodes that have come or gone.
func (s *Server) followCluster(all []cluster.State) {
	c := s.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	nodes := map[[16]byte]*ring.Node{}
	view := new(ring.View)
	var about []*ring.Node
	for i := range all {
		m := &all[i]
		n := &ring.Node{
			Number: m.Number, HostID: m.HostID, Address: m.Address, Datacenter: m.Datacenter, Rack: m.Rack,
			Tokens: slices.Sorted(slices.Values(m.Tokens)),
		}
		if was := c.nodes[m.HostID]; was != nil && sameNode(was, n) {
			n = was
		}
		if m.HostID == c.own {
			view.Self = i
		}
		nodes[m.HostID], about, view.Up = n, append(about, n), append(view.Up, m.Up)
	}
	view.Topology = ring.New(about)
	before := c.view
	c.nodes, c.view, c.all = nodes, view, all
	if before == nil {
		return
	}
	if events := changes(before, view); len(events) > 0 {
		s.send(events, everyone)
	}
}

// sameNode reports whether drivers see no difference between two nodes.
func sameNode(a, b *ring.Node) bool {
	return a.Number == b.Number && a.Address == b.Address && a.Datacenter == b.Datacenter && a.Rack == b.Rack &&
		slices.Equal(a.Tokens, b.Tokens)
}

// topology returns the nodes with their tokens.
func (c *clusterView) topology() *ring.Topology {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.view.Topology
}

// shown returns this node and the others, as system tables show them. Nodes that are down are among them, with the
// schema version of this node, because drivers wait until all have the same.
func (c *clusterView) shown(store.Session) (self system.Node, peers []system.Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, n := range c.view.Nodes {
		about := system.Node{
			Address: n.Address, StoragePort: c.view.StoragePort(n), HostID: n.HostID,
			Datacenter: n.Datacenter, Rack: n.Rack, Tokens: n.Tokens, Down: !c.all[i].Up,
		}
		if !about.Down {
			about.SchemaVersion = c.all[i].Schema
		}
		if n.HostID == c.own {
			about.SchemaVersion = [16]byte{}
			self = about
		} else {
			peers = append(peers, about)
		}
	}
	return self, peers
}

// Restore replaces the rows and definitions of the server's store by those of an image. Clients that have registered
// for schema changes get the differences, so that drivers refresh their metadata. Prepared statements that do not fit
// the restored definitions are dropped: EXECUTE answers UNPREPARED, and drivers prepare them again.
func (s *Server) Restore(i *store.Image) error {
	before, err := s.store.Restore(i)
	if err != nil {
		return err
	}
	if s.roles != nil {
		s.roles.Changed()
	}
	changes := schema.Difference(before, s.store.Catalog())
	s.schemaChanged(changes)
	s.publish(changes)
	return nil
}
