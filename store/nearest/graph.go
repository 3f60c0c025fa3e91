// Package nearest finds the vectors that are nearest to a given one, approximately: in a graph whose nodes are vectors
// with the keys of their rows (HNSW, a hierarchical navigable small world, by Malkov and Yashunin).
//
// A Graph is immutable, so searches take no lock. A Builder adds nodes to a copy of one and makes the next: the
// vectors are shared, the links are copied. Nodes cannot be removed. They can be marked dead: a search passes through
// them and does not return them.
package nearest

import "slices"

// The maximum number of links of a node: on the lowest level, and on each level above it.
const (
	lowLinks   = 32
	upperLinks = 16
)

// Graph has vectors of one dimension with the keys of their rows.
type Graph struct {
	measure Measure
	dim     int
	vectors []float32 // of all nodes, one after the other
	keys    []byte    // of all nodes, one after the other
	ends    []uint64  // of the keys
	dead    []bool
	deadSum int

	// Links of a node on one level: their number, and the nodes that they lead to.
	low   []int32   // of all nodes on the lowest level
	upper [][]int32 // of each node on the levels above, from the lowest of them; nil: it is on none
	entry int32     // a node on the highest level

	effort int // the factor by which searches are widened, or compareAll; see Try
}

// New returns a graph without nodes.
func New(m Measure, dim int) *Graph { return &Graph{measure: m, dim: dim, entry: -1, effort: 1} }

// Len is the number of nodes, dead ones too.
func (g *Graph) Len() int { return len(g.ends) }

// Dead is the number of dead nodes.
func (g *Graph) Dead() int { return g.deadSum }

// IsDead reports whether a node is dead.
func (g *Graph) IsDead(node int) bool { return g.dead[node] }

// Bytes is about how much memory the graph uses.
func (g *Graph) Bytes() int64 {
	n := 4*len(g.vectors) + len(g.keys) + 8*len(g.ends) + len(g.dead) + 4*len(g.low) + 24*len(g.upper)
	return int64(n + len(g.upper)*4*(upperLinks+1)/(upperLinks-1))
}

// Key is the key of a node's row. It must not be changed.
func (g *Graph) Key(node int) []byte {
	begin := uint64(0)
	if node > 0 {
		begin = g.ends[node-1]
	}
	return g.keys[begin:g.ends[node]:g.ends[node]]
}

// Holds reports whether a node has a vector.
func (g *Graph) Holds(node int, vector []float32) bool {
	if len(vector) != g.dim {
		return false
	}
	v := slices.Clone(vector)
	return g.measure.prepare(v) && slices.Equal(v, g.vector(int32(node)))
}

func (g *Graph) vector(node int32) []float32 {
	at := int(node) * g.dim
	return g.vectors[at : at+g.dim : at+g.dim]
}

// lineOfFloats is how many numbers a cache line has.
const lineOfFloats = 16

// prefetch reads a number of each cache line of the nodes' vectors, and returns their sum so that the compiler keeps
// the reads. Without computing in between the cache misses overlap, so a search takes a fifth less time than one that
// reads each vector when it is compared (20,000 vectors of 256 numbers).
func (g *Graph) prefetch(nodes []int32) (sum float32) {
	for _, n := range nodes {
		for v := g.vector(n); ; v = v[lineOfFloats:] {
			sum += v[0]
			if len(v) <= lineOfFloats {
				break
			}
		}
	}
	return sum
}

// links are the nodes that a node leads to on a level.
func (g *Graph) links(node int32, level int) []int32 {
	all := g.slots(node, level)
	return all[1 : 1+all[0]]
}

// slots has the number of a node's links on a level, and the links.
func (g *Graph) slots(node int32, level int) []int32 {
	if level == 0 {
		at := int(node) * (lowLinks + 1)
		return g.low[at : at+lowLinks+1]
	}
	at := (level - 1) * (upperLinks + 1)
	return g.upper[node][at : at+upperLinks+1]
}

// level is the highest level that a node is on.
func (g *Graph) level(node int32) int { return len(g.upper[node]) / (upperLinks + 1) }

// Found is a node with its distance from the vector of a search.
type Found struct {
	Node     int32
	Distance float32
}

// Search returns at most wide living nodes near to a vector, the nearest first. It visits the neighbours of the wide
// nearest nodes that it finds, of more nodes if the graph wants more effort, or all nodes.
func (g *Graph) Search(vector []float32, wide int) []Found {
	if g.Len() == 0 || len(vector) != g.dim {
		return nil
	}
	vector = slices.Clone(vector)
	if !g.measure.prepare(vector) {
		return nil
	}
	if g.effort == compareAll {
		return g.all(vector, wide)
	}
	found, _ := g.near(vector, wide)
	return found
}

// descend goes from the entry to nearer nodes as long as there are any, on the levels above one.
func (g *Graph) descend(vector []float32, above int) Found {
	at := Found{g.entry, g.measure.distance(vector, g.vector(g.entry))}
	for level := g.level(g.entry); level > above; level-- {
		for moved := true; moved; {
			moved = false
			for _, n := range g.links(at.Node, level) {
				if d := g.measure.distance(vector, g.vector(n)); d < at.Distance {
					at, moved = Found{n, d}, true
				}
			}
		}
	}
	return at
}
