package ring

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/schema"
)

// Placement is where the rows of a keyspace are.
type Placement struct {
	// Everywhere: each node has rows that the others do not have (LocalStrategy).
	Everywhere bool

	topology *Topology
	ranges   [][]int // the indexes of the replicas of each range, in the order of Cassandra
}

// Replicas returns the replicas of the range of a token, as indexes in Topology.Nodes. They must not be changed.
func (p *Placement) Replicas(token int64) []int { return p.ranges[p.topology.rangeOf(token)] }

// Each calls fn for the ranges that have a token from first to last, until it returns an error. It calls fn once for
// ranges that have the same replicas.
func (p *Placement) Each(first, last int64, fn func(replicas []int) error) error {
	from, _ := slices.BinarySearch(p.topology.tokens, first)
	to, _ := slices.BinarySearch(p.topology.tokens, last) // after the last token the first range begins again
	var done [][]int
	for i := from; i <= to; i++ {
		replicas := p.ranges[i%len(p.ranges)]
		if slices.ContainsFunc(done, func(d []int) bool { return slices.Equal(d, replicas) }) {
			continue
		}
		if err := fn(replicas); err != nil {
			return err
		}
		done = append(done, replicas)
	}
	return nil
}

// place computes the placement of a keyspace.
func (t *Topology) place(k *schema.Keyspace) *Placement {
	p := &Placement{topology: t}
	if k.Virtual || strings.HasSuffix(k.Replication["class"], "LocalStrategy") {
		p.Everywhere = true
		return p
	}
	p.ranges = make([][]int, len(t.tokens))
	for i := range p.ranges {
		if factors := k.ByDatacenter(); factors != nil {
			p.ranges[i] = t.byTopology(i, factors)
		} else {
			p.ranges[i] = t.simple(i, k.Replicas())
		}
	}
	return p
}

// around calls fn with the owners of the tokens from the i-th one on, once around the ring, until it returns false.
func (t *Topology) around(i int, fn func(owner int) bool) {
	for n := range t.owners {
		if !fn(t.owners[(i+n)%len(t.owners)]) {
			return
		}
	}
}

// simple returns the replicas of a range as SimpleStrategy chooses them: the next nodes on the ring.
func (t *Topology) simple(i, factor int) []int {
	var replicas []int
	t.around(i, func(owner int) bool {
		if len(replicas) < factor && !slices.Contains(replicas, owner) {
			replicas = append(replicas, owner)
		}
		return len(replicas) < factor
	})
	return replicas
}

// filling counts the replicas that NetworkTopologyStrategy still needs in one datacenter.
type filling struct {
	missing int             // replicas
	repeats int             // replicas that may be in racks that have one
	racks   map[string]bool // that have a replica
}

// byTopology returns the replicas of a range as NetworkTopologyStrategy chooses them: in each datacenter the next nodes
// on the ring in racks that have no replica yet. Where there are fewer racks than replicas, the next nodes in any rack
// fill the difference.
func (t *Topology) byTopology(i int, factors map[string]int) []int {
	var replicas []int
	open := make(map[string]*filling)
	for datacenter, factor := range factors {
		if missing := min(factor, t.nodes[datacenter]); missing > 0 {
			open[datacenter] = &filling{missing, factor - t.racks[datacenter], make(map[string]bool)}
		}
	}
	t.around(i, func(owner int) bool {
		n := t.Nodes[owner]
		f := open[n.Datacenter]
		if f == nil || slices.Contains(replicas, owner) {
			return len(open) > 0
		}
		switch {
		case !f.racks[n.Rack]:
			f.racks[n.Rack] = true
		case f.repeats > 0:
			f.repeats--
		default:
			return true
		}
		replicas = append(replicas, owner)
		if f.missing--; f.missing == 0 {
			delete(open, n.Datacenter)
		}
		return len(open) > 0
	})
	return replicas
}

// TokensPerNode is how many tokens each node has: Cassandra's num_tokens.
const TokensPerNode = 16

// ShareOut gives tokens to nodes that have none, so that the nodes of each datacenter own equal parts of the ring. The
// tokens of one datacenter lie between the tokens of the others.
func ShareOut(nodes []*Node) {
	var datacenters []string
	members := make(map[string][]*Node)
	for _, n := range nodes {
		if members[n.Datacenter] == nil {
			datacenters = append(datacenters, n.Datacenter)
		}
		members[n.Datacenter] = append(members[n.Datacenter], n)
	}
	for d, datacenter := range datacenters {
		own := members[datacenter]
		count := uint64(len(own) * TokensPerNode)
		step := math.MaxUint64 / count
		offset := step / uint64(len(datacenters)) * uint64(d)
		for i := range count {
			// Half a step keeps the tokens off the smallest one, which no node may have.
			token := int64(i*step+offset+step/2/uint64(len(datacenters))) + math.MinInt64
			n := own[i%uint64(len(own))]
			n.Tokens = append(n.Tokens, token)
		}
	}
}

// Join returns the tokens of a node that joins a datacenter: each halves the range that is the largest one there at
// that moment. A node that is alone in its datacenter gets tokens that are as far from each other as can be.
func (t *Topology) Join(datacenter string) []int64 {
	var there []int64
	for i, token := range t.tokens {
		if t.Nodes[t.owners[i]].Datacenter == datacenter {
			there = append(there, token)
		}
	}
	if len(there) == 0 {
		alone := &Node{Datacenter: datacenter}
		ShareOut([]*Node{alone})
		for i, token := range alone.Tokens {
			alone.Tokens[i] = t.free(token)
		}
		return alone.Tokens
	}
	var tokens []int64
	for range TokensPerNode {
		at, size := 0, uint64(0)
		for i, token := range there {
			if own := uint64(token - there[(i+len(there)-1)%len(there)]); own > size || len(there) == 1 {
				at, size = i, own
			}
		}
		half := size / 2
		if len(there) == 1 {
			half = math.MaxUint64/2 + 1
		}
		token := t.free(there[at] - int64(half))
		tokens, there = append(tokens, token), append(there, token)
		slices.Sort(there)
	}
	slices.Sort(tokens)
	return tokens
}

// free returns the first token from one on that no node has.
func (t *Topology) free(token int64) int64 {
	for slices.Contains(t.tokens, token) || token == math.MinInt64 {
		token++
	}
	return token
}

// ByNumber returns the node with a number; nil: there is none.
func (t *Topology) ByNumber(number int) *Node {
	i, found := slices.BinarySearchFunc(t.Nodes, number, func(n *Node, number int) int { return cmp.Compare(n.Number, number) })
	if !found {
		return nil
	}
	return t.Nodes[i]
}
