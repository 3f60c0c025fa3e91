package nearest

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrGraph is the error for bytes that are no graph.
var ErrGraph = errors.New("these are not the bytes of a graph of vectors")

// A graph of version 1 was made before graphs were tried out: it has no effort.
const (
	untriedVersion  = 1
	encodingVersion = 2
)

// Append appends a graph's bytes:
//
//	| version : 1 | measure : 1 | dimension : 4 | nodes : 4 | entry : 4 | effort : 1 | nodes ... |
//
// A node is its key after its length, whether it is dead, the number of its levels above the lowest, its vector, and
// on each level from the lowest on the number of its links and the links.
func (g *Graph) Append(dst []byte) []byte {
	dst = append(dst, encodingVersion, byte(g.measure))
	dst = binary.BigEndian.AppendUint32(dst, uint32(g.dim))
	dst = binary.BigEndian.AppendUint32(dst, uint32(g.Len()))
	dst = binary.BigEndian.AppendUint32(dst, uint32(g.entry))
	dst = append(dst, byte(g.effort))
	for node := range g.Len() {
		key := g.Key(node)
		dst = append(binary.AppendUvarint(dst, uint64(len(key))), key...)
		dead := byte(0)
		if g.dead[node] {
			dead = 1
		}
		dst = append(dst, dead, byte(g.level(int32(node))))
		for _, f := range g.vector(int32(node)) {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
		}
		for level := range g.level(int32(node)) + 1 {
			links := g.links(int32(node), level)
			dst = append(dst, byte(len(links)))
			for _, n := range links {
				dst = binary.LittleEndian.AppendUint32(dst, uint32(n))
			}
		}
	}
	return dst
}

// Decode returns the graph that Append has appended.
func Decode(b []byte) (*Graph, error) {
	if len(b) < 15 || b[0] < untriedVersion || b[0] > encodingVersion || b[1] > byte(Cosine) {
		return nil, ErrGraph
	}
	tried := b[0] == encodingVersion
	g := New(Measure(b[1]), int(binary.BigEndian.Uint32(b[2:])))
	n := int(binary.BigEndian.Uint32(b[6:]))
	g.entry = int32(binary.BigEndian.Uint32(b[10:]))
	b = b[14:]
	if tried {
		g.effort, b = int(b[0]), b[1:]
	}
	if g.effort > maxEffort {
		return nil, ErrGraph
	}
	if n > len(b) || g.dim > len(b)/4 || n*g.dim > len(b)/4 || g.entry < 0 || int(g.entry) >= n {
		return nil, ErrGraph
	}
	g.vectors = make([]float32, 0, n*g.dim)
	g.low = make([]int32, n*(lowLinks+1))
	g.upper, g.dead, g.ends = make([][]int32, n), make([]bool, n), make([]uint64, 0, n)
	for node := range n {
		var err error
		if b, err = g.decodeNode(node, n, b); err != nil {
			return nil, err
		}
	}
	if len(b) > 0 {
		return nil, ErrGraph
	}
	return g, g.check()
}

func (g *Graph) decodeNode(node, n int, b []byte) ([]byte, error) {
	size, used := binary.Uvarint(b)
	if used <= 0 || size > uint64(len(b)-used) || len(b)-used-int(size) < 2+4*g.dim {
		return nil, ErrGraph
	}
	b = b[used:]
	g.keys, b = append(g.keys, b[:size]...), b[size:]
	g.ends = append(g.ends, uint64(len(g.keys)))
	if b[0] != 0 {
		g.dead[node] = true
		g.deadSum++
	}
	levels := int(b[1])
	b = b[2:]
	for range g.dim {
		g.vectors = append(g.vectors, math.Float32frombits(binary.LittleEndian.Uint32(b)))
		b = b[4:]
	}
	if levels > 0 {
		g.upper[node] = make([]int32, levels*(upperLinks+1))
	}
	for level := range levels + 1 {
		slots := g.slots(int32(node), level)
		if len(b) == 0 || int(b[0]) >= len(slots) || len(b) < 1+4*int(b[0]) {
			return nil, ErrGraph
		}
		count := int(b[0])
		slots[0], b = int32(count), b[1:]
		for i := range count {
			to := binary.LittleEndian.Uint32(b)
			if uint64(to) >= uint64(n) {
				return nil, ErrGraph
			}
			slots[i+1], b = int32(to), b[4:]
		}
	}
	return b, nil
}

// check refuses links to nodes that are not on their level.
func (g *Graph) check() error {
	for node := range g.Len() {
		for level := 1; level <= g.level(int32(node)); level++ {
			for _, to := range g.links(int32(node), level) {
				if g.level(to) < level {
					return ErrGraph
				}
			}
		}
	}
	return nil
}
