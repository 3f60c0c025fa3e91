package server

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/planner/exec/ring"
	"github.com/cqld/cqld/server/statements"
)

// node is a node that clients connect to: the only one of a server, or one of a Ring.
type node struct {
	*ring.Node
	server   *Server
	prepared *statements.Prepared

	// view is how the node sees the ring; nil: it is alone.
	view atomic.Pointer[ring.View]

	accepting bool // connections; guarded by the lock of the server

	// All fields from here on are of a node of a Ring, and guarded by its lock.
	listener    net.Listener // nil: it is stopped
	partitioned bool
	delay       time.Duration
}

// newNode returns a node that is not listening.
func (s *Server) newNode(about *ring.Node) *node {
	return &node{Node: about, server: s, prepared: statements.NewPrepared(&s.planner, s.limits.PreparedBytes)}
}

// slowed reports whether requests may have to wait for nodes that are slow.
func (n *node) slowed() bool {
	v := n.view.Load()
	return v != nil && v.Delay != nil
}

// lag returns how much later than usual the node answers clients.
func (n *node) lag() time.Duration {
	v := n.view.Load()
	if v == nil || v.Delay == nil {
		return 0
	}
	return v.Own
}

// allNodes returns the nodes of the server.
func (s *Server) allNodes() []*node {
	if s.ring == nil {
		return []*node{s.alone}
	}
	s.ring.mu.Lock()
	defer s.ring.mu.Unlock()
	return s.ring.nodes
}

// preparedUsage returns how many statements are prepared on all nodes, how many bytes they take, and how many were
// evicted.
func (s *Server) preparedUsage() (count int, bytes int64, evicted uint64) {
	for _, n := range s.allNodes() {
		c, b, e := n.prepared.Usage()
		count, bytes, evicted = count+c, bytes+b, evicted+e
	}
	return count, bytes, evicted
}

// nodesByDatacenter returns how many nodes there are in each datacenter; nil: the server is one node.
func (s *Server) nodesByDatacenter() map[string]int {
	if s.cluster != nil {
		return s.cluster.topology().ByDatacenter()
	}
	if s.ring == nil {
		return nil
	}
	s.ring.mu.Lock()
	defer s.ring.mu.Unlock()
	return s.ring.topology.ByDatacenter()
}

// hasDatacenter returns the function that knows the datacenters of a ring; nil: there is no ring.
func (s *Server) hasDatacenter(o Options) func(string) bool {
	if o.Ring == nil && o.Store.Cluster() == nil {
		return nil
	}
	return func(name string) bool { return s.nodesByDatacenter()[name] > 0 }
}
