package ring

import (
	"cmp"
	"math"
	"slices"
)

// TokensPerNode is how many tokens each node has: Cassandra's num_tokens.
const TokensPerNode = 16

// ShareOut gives tokens to nodes that have none, so that the nodes of each datacenter own equal parts of the ring. The
// tokens of one datacenter stand between those of the others.
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
