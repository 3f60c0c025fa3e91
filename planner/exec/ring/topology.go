// Package ring says which nodes a ring has, which of them are replicas of a partition, and how one of them sees the
// others.
//
// A Topology has the nodes and their tokens. Each token ends a range of the ring, and Placement computes the replicas
// of each range from a keyspace's replication, as Cassandra's SimpleStrategy and NetworkTopologyStrategy do. A View is
// the topology as one node sees it: which nodes answer it, and how late. All three never change; whoever stops a node
// makes other views.
package ring

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

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

// Tokens returns the tokens of all nodes, in order. Each ends a range that begins behind the one before it.
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

// mostPlacements bounds how many placements are kept: each change of a keyspace makes another one.
const mostPlacements = 256

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
	if known := t.placements.Load(); known != nil && len(*known) < mostPlacements {
		for k, p := range *known {
			next[k] = p
		}
	}
	p := t.place(k)
	next[k] = p
	t.placements.Store(&next)
	return p
}
