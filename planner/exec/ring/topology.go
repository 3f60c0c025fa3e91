// Package ring says which nodes a ring has, which of them are replicas of a partition, and how one of them sees the
// others.
//
// A Topology has the nodes and their tokens. Each token ends a range of the ring, and Placement computes the replicas
// of each range from a keyspace's replication, as Cassandra's SimpleStrategy and NetworkTopologyStrategy do. A View is
// the topology as one node sees it: which nodes answer it, and how late. All three never change: when a node
// stops, other views are made.
package ring

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/cql/schema"
)

// Node is a node of a ring. It never changes.
type Node struct {
	Number     int // 1 for the first one; the numbers of removed nodes are not used again
	HostID     [16]byte
	Address    netip.AddrPort // that clients connect to
	Datacenter string
	Rack       string
	Tokens     []int64 // in order
}

// Topology is the nodes of a ring.
type Topology struct {
	Nodes  []*Node // by their numbers
	tokens []int64 // of all nodes, in order
	owners []int   // the index in Nodes of each token's node

	nodes map[string]int // in each datacenter
	racks map[string]int // likewise

	mu         sync.Mutex // held to add a placement
	placements atomic.Pointer[map[*schema.Keyspace]*Placement]
}

// New returns the topology of nodes, which are sorted by their numbers.
func New(nodes []*Node) *Topology {
	t := &Topology{Nodes: nodes, nodes: make(map[string]int), racks: make(map[string]int)}
	type owned struct {
		token int64
		owner int
	}
	var all []owned
	seen := make(map[[2]string]bool)
	for i, n := range nodes {
		for _, token := range n.Tokens {
			all = append(all, owned{token, i})
		}
		t.nodes[n.Datacenter]++
		if place := [2]string{n.Datacenter, n.Rack}; !seen[place] {
			seen[place] = true
			t.racks[n.Datacenter]++
		}
	}
	slices.SortFunc(all, func(a, b owned) int { return cmp.Compare(a.token, b.token) })
	for _, o := range all {
		t.tokens, t.owners = append(t.tokens, o.token), append(t.owners, o.owner)
	}
	return t
}

// StoragePort returns the port at which a node would talk to the others. Nodes that share an address differ in it, as
// in the port that clients connect to.
func (t *Topology) StoragePort(n *Node) int {
	port, first := storagePort, t.Nodes[0]
	if len(t.Nodes) > 1 && t.Nodes[1].Address.Addr() == first.Address.Addr() {
		port += n.Number - first.Number
	}
	return port
}

// storagePort is Cassandra's default.
const storagePort = 7000

// ByDatacenter returns how many nodes there are in each datacenter. It must not be changed.
func (t *Topology) ByDatacenter() map[string]int { return t.nodes }

// Tokens returns the tokens of all nodes, in order. Each ends a range that begins after the one before it.
func (t *Topology) Tokens() []int64 { return t.tokens }

// rangeOf returns the index of the range that a token is in: that of the first token that is not smaller, or the first
// range, which goes around the end of the ring.
func (t *Topology) rangeOf(token int64) int {
	i, _ := slices.BinarySearch(t.tokens, token)
	if i == len(t.tokens) {
		return 0
	}
	return i
}

// maxPlacements bounds how many placements are kept: each change of a keyspace makes another one.
const maxPlacements = 256

// Placement returns where the rows of a keyspace are.
func (t *Topology) Placement(k *schema.Keyspace) *Placement {
	if known := t.placements.Load(); known != nil {
		if p := (*known)[k]; p != nil {
			return p
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	next := make(map[*schema.Keyspace]*Placement)
	if known := t.placements.Load(); known != nil && len(*known) < maxPlacements {
		for k, p := range *known {
			next[k] = p
		}
	}
	p := t.place(k)
	next[k] = p
	t.placements.Store(&next)
	return p
}

// View is a ring as one of its nodes sees it. It never changes.
type View struct {
	*Topology
	Self  int             // the index in Nodes of the node whose view it is
	Up    []bool          // which of Nodes answer it
	Delay []time.Duration // how much later than usual they answer the node; nil: no node is slow
	Own   time.Duration   // how much later than usual the node answers its clients
}

// Datacenter returns the datacenter of the view's node.
func (v *View) Datacenter() string { return v.Nodes[v.Self].Datacenter }

// Alive returns how many of some nodes are up, in all datacenters or in one of them.
func (v *View) Alive(nodes []int, datacenter string) (alive int) {
	for _, i := range nodes {
		if v.Up[i] && (datacenter == "" || v.Nodes[i].Datacenter == datacenter) {
			alive++
		}
	}
	return alive
}

// Members returns the nodes of a datacenter.
func (v *View) Members(datacenter string) (nodes []int) {
	for i, n := range v.Nodes {
		if n.Datacenter == datacenter {
			nodes = append(nodes, i)
		}
	}
	return nodes
}

// AllUp reports whether the node sees all nodes.
func (v *View) AllUp() bool { return v.Alive(v.all(), "") == len(v.Nodes) }

func (v *View) all() []int {
	all := make([]int, len(v.Nodes))
	for i := range all {
		all[i] = i
	}
	return all
}

// Slowest returns how late the last of all nodes answers.
func (v *View) Slowest() (last time.Duration) {
	for _, d := range v.Delay {
		last = max(last, d)
	}
	return last
}
