package nearest

import (
	"math"
	"math/rand/v2"
	"slices"
)

// buildWidth is the number of near nodes from which the links of a node are chosen.
const buildWidth = 120

// Builder makes a graph from another one, which does not change.
type Builder struct {
	g      *Graph
	random *rand.Rand
	search search
	chosen []Found
	spare  []Found
}

// NewBuilder returns a builder that begins with the nodes of a graph. Two builders that begin with the same graph must
// not be used at a time.
func NewBuilder(from *Graph) *Builder {
	g := *from
	g.dead, g.low, g.upper = slices.Clone(from.dead), slices.Clone(from.low), slices.Clone(from.upper)
	for i, links := range g.upper {
		if links != nil {
			g.upper[i] = slices.Clone(links)
		}
	}
	return &Builder{g: &g, random: rand.New(rand.NewPCG(uint64(g.Len()), 1))}
}

// Graph returns the new graph. The builder must not be used afterwards.
func (b *Builder) Graph() *Graph { return b.g }

// Kill marks a node as dead.
func (b *Builder) Kill(node int) {
	if !b.g.dead[node] {
		b.g.dead[node] = true
		b.g.deadSum++
	}
}

// Add adds a row with its vector. It reports false if the vector has no place in the graph.
func (b *Builder) Add(key []byte, vector []float32) bool {
	g := b.g
	if len(vector) != g.dim {
		return false
	}
	at := len(g.vectors)
	g.vectors = append(g.vectors, vector...)
	if v := g.vectors[at:]; !g.measure.prepare(v) {
		g.vectors = g.vectors[:at]
		return false
	}
	b.link(key)
	return true
}

// AddFrom adds a node of another graph of the same measure and dimension.
func (b *Builder) AddFrom(other *Graph, node int) {
	b.g.vectors = append(b.g.vectors, other.vector(int32(node))...)
	b.link(other.Key(node))
}

// link makes a node of the last vector.
func (b *Builder) link(key []byte) {
	g := b.g
	node := int32(len(g.ends))
	g.keys = append(g.keys, key...)
	g.ends = append(g.ends, uint64(len(g.keys)))
	g.dead = append(g.dead, false)
	g.low = append(g.low, make([]int32, lowLinks+1)...)
	level := int(-math.Log(1-b.random.Float64()) / math.Log(upperLinks))
	var upper []int32
	if level > 0 {
		upper = make([]int32, level*(upperLinks+1))
	}
	g.upper = append(g.upper, upper)
	if g.entry < 0 {
		g.entry = node
		return
	}
	vector := g.vector(node)
	top := g.level(g.entry)
	at := g.descend(vector, min(level, top))
	for l := min(level, top); l >= 0; l-- {
		found := b.search.level(g, vector, at, l, buildWidth)
		at = found[0]
		b.chosen = b.choose(b.chosen[:0], found, upperLinks)
		slots := g.slots(node, l)
		for _, f := range b.chosen {
			slots[0]++
			slots[slots[0]] = f.Node
			b.linkBack(f, node, l)
		}
	}
	if level > top {
		g.entry = node
	}
}

// linkBack adds a link from a node to a new one. If there are too many links, the best ones stay.
func (b *Builder) linkBack(from Found, to int32, level int) {
	g := b.g
	slots := g.slots(from.Node, level)
	if n := int(slots[0]); n < len(slots)-1 {
		slots[0]++
		slots[n+1] = to
		return
	}
	b.search.prefetched += g.prefetch(slots[1:])
	b.spare = append(b.spare[:0], Found{to, from.Distance})
	vector := g.vector(from.Node)
	for _, n := range slots[1:] {
		b.spare = append(b.spare, Found{n, g.measure.distance(vector, g.vector(n))})
	}
	slices.SortFunc(b.spare, compareFound)
	n := len(b.spare)
	b.spare = b.choose(b.spare, b.spare[:n:n], len(slots)-1)[n:]
	slots[0] = int32(len(b.spare))
	for i, f := range b.spare {
		slots[i+1] = f.Node
	}
}

// choose appends at most limit of the nodes found, the nearest first. It takes nodes that are nearer to the beginning
// of the links than to any node that it took before, so that links lead in all directions.
func (b *Builder) choose(dst, found []Found, limit int) []Found {
	g, begin := b.g, len(dst)
	for _, f := range found {
		if len(dst)-begin == limit {
			break
		}
		vector := g.vector(f.Node)
		spread := !slices.ContainsFunc(dst[begin:], func(c Found) bool {
			return g.measure.distance(vector, g.vector(c.Node)) < f.Distance
		})
		if spread {
			dst = append(dst, f)
		}
	}
	return dst
}
