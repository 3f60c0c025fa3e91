package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/nearest"
	"github.com/cqld/cqld/store/rows"
)

// The graphs of an index of vectors are stored under the number of the index:
//
//	| 2 × index : 4 | graph : 4 | part : 4 |
//
// The last part has the number of the others. A graph without it does not count: it is being written or removed. It
// replaces others in the commit that writes its last part.

// LastPart is the number of the last part of a graph.
const LastPart = math.MaxUint32

// graphStep is how many nodes are looked at between two pauses.
const graphStep = 64

// Segment is one graph of an index.
type Segment struct {
	Number uint32
	Graph  *nearest.Graph
}

// Graphs has the graphs of all indexes in memory. One goroutine replaces them.
type Graphs struct {
	all   atomic.Pointer[graphSets]
	Round atomic.Uint64 // in which entries are written
}

// graphSets are graphs by the numbers of their indexes, the oldest first. They hold while the store has been restored
// as often as era says.
type graphSets struct {
	era uint64
	of  map[uint32]GraphSet
}

// GraphSet are the graphs of an index. Rows that are in none of them have an entry written since a round.
type GraphSet struct {
	Segments []*Segment
	Since    uint64
}

// Of returns the graphs of an index; none: they are not loaded, or there are none.
func (g *Graphs) Of(id uint32, era uint64) GraphSet {
	all := g.all.Load()
	if all == nil || all.era != era {
		return GraphSet{}
	}
	return all.of[id]
}

// Has reports whether the graphs of an index are loaded.
func (g *Graphs) Has(id uint32, era uint64) bool {
	all := g.all.Load()
	if all == nil || all.era != era {
		return false
	}
	_, has := all.of[id]
	return has
}

// Set replaces the graphs of an index, and drops the graphs of dropped indexes.
func (g *Graphs) Set(id uint32, era uint64, live map[uint32]bool, kept GraphSet) {
	next := &graphSets{era: era, of: map[uint32]GraphSet{id: kept}}
	if all := g.all.Load(); all != nil && all.era == era {
		for other, kept := range all.of {
			if other != id && live[other] {
				next.of[other] = kept
			}
		}
	}
	g.all.Store(next)
}

// GraphMetrics is the number and the size in memory of the graphs of vectors.
type GraphMetrics struct {
	Graphs, Nodes int // dead nodes too
	Bytes         int64
}

// Metrics counts the graphs.
func (g *Graphs) Metrics() (m GraphMetrics) {
	all := g.all.Load()
	if all == nil {
		return m
	}
	for _, kept := range all.of {
		for _, one := range kept.Segments {
			m.Graphs++
			m.Nodes += one.Graph.Len()
			m.Bytes += one.Graph.Bytes()
		}
	}
	return m
}

// GraphKey is the key of a part of a graph.
func (x *Index) GraphKey(number, part uint32) []byte {
	key := binary.BigEndian.AppendUint32(rows.AppendArea(nil, x.ID, rows.AreaTombstones), number)
	return binary.BigEndian.AppendUint32(key, part)
}

// ReadGraphs reads the graphs of an index. incomplete are the keys of parts that belong to none.
func (x *Index) ReadGraphs(src engine.Reader) (segments []*Segment, incomplete [][]byte, err error) {
	start := rows.AppendArea(nil, x.ID, rows.AreaTombstones)
	var keys, parts [][]byte
	err = src.Scan(start, rows.Successor(bytes.Clone(start)), engine.ScanOptions{}, func(key, value []byte) (bool, error) {
		if len(key) != rows.AreaSize+8 {
			return false, nearest.ErrGraph
		}
		number, part := binary.BigEndian.Uint32(key[rows.AreaSize:]), binary.BigEndian.Uint32(key[rows.AreaSize+4:])
		if part == 0 {
			incomplete, keys, parts = append(incomplete, keys...), nil, nil
		}
		if part != LastPart {
			keys, parts = append(keys, bytes.Clone(key)), append(parts, bytes.Clone(value))
			return true, nil
		}
		count, _ := binary.Uvarint(value)
		if count > uint64(len(parts)) {
			return false, nearest.ErrGraph
		}
		graph, err := nearest.Decode(bytes.Join(parts[:count], nil))
		if err != nil {
			return false, err
		}
		incomplete, keys, parts = append(incomplete, keys[count:]...), nil, nil
		segments = append(segments, &Segment{number, graph})
		return true, nil
	})
	return segments, append(incomplete, keys...), err
}

// MergeGraphs makes a graph of the rows of other graphs and of added rows, each with its current vector. It calls
// pause often, and ends with its error.
func (x *Index) MergeGraphs(
	src engine.Reader, from []*Segment, added []Ungraphed, pause func() error,
) (*nearest.Graph, error) {
	known := map[string]bool{}
	for i := range added {
		known[string(added[i].Row)] = true
	}
	steps := 0
	step := func() error {
		if steps++; steps%graphStep != 0 {
			return nil
		}
		return pause()
	}
	var floats []float32
	// lives reports whether the row of a node has still its vector, which no other node has that was looked at.
	lives := func(g *nearest.Graph, node int, last bool) (bool, error) {
		key := g.Key(node)
		if err := step(); err != nil || g.IsDead(node) || known[string(key)] {
			return false, err
		}
		vector, err := x.StoredVector(src, key)
		if err != nil || vector == nil {
			return false, err
		}
		floats = AppendFloats(floats[:0], vector)
		if !last {
			known[string(key)] = true
		}
		return g.Holds(node, floats), nil
	}
	type source struct {
		graph *nearest.Graph
		nodes []int
	}
	var others []source
	base := nearest.New(x.measure, x.dim)
	for i := len(from) - 1; i >= 0; i-- {
		g := from[i].Graph
		o := source{graph: g}
		for node := range g.Len() {
			alive, err := lives(g, node, i == 0)
			if err != nil {
				return nil, err
			}
			if alive {
				o.nodes = append(o.nodes, node)
			}
		}
		if i == 0 && len(o.nodes) >= g.Len()/4*3 {
			base = g
		}
		others = append(others, o)
	}
	b := nearest.NewBuilder(base)
	for _, o := range slices.Backward(others) {
		if o.graph == base {
			next := 0
			for node := range base.Len() {
				if next < len(o.nodes) && o.nodes[next] == node {
					next++
					continue
				}
				b.Kill(node)
			}
			continue
		}
		for _, node := range o.nodes {
			if err := step(); err != nil {
				return nil, err
			}
			b.AddFrom(o.graph, node)
		}
	}
	for i := range added {
		if err := step(); err != nil {
			return nil, err
		}
		floats = AppendFloats(floats[:0], added[i].Vector)
		b.Add(added[i].Row, floats)
	}
	g := b.Graph()
	return g, g.Try(func() error {
		steps = -1 // it takes long from step to step
		return step()
	})
}

// CountUngraphed counts entries that were written since a round, up to most.
func (x *Index) CountUngraphed(src engine.Reader, since uint64, most int) (n int, err error) {
	err = x.ScanUngraphed(src, since, func([]byte) (bool, error) {
		n++
		return n < most, nil
	})
	return n, err
}

// Search returns the keys of the rows nearest to a vector, of all graphs. Each graph looks for wide rows, and take
// of them are returned in total; 0: all.
func Search(segments []*Segment, near []byte, wide, take int) (keys [][]byte) {
	type candidate struct {
		nearest.Found
		graph *nearest.Graph
	}
	var all []candidate
	vector := AppendFloats(nil, near)
	for _, s := range segments {
		for _, f := range s.Graph.Search(vector, wide) {
			all = append(all, candidate{f, s.Graph})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.Distance, b.Distance) })
	if take > 0 && len(all) > take {
		all = all[:take]
	}
	for _, c := range all {
		keys = append(keys, c.graph.Key(int(c.Node)))
	}
	return keys
}

// Ungraphed is a row that a graph is to have.
type Ungraphed struct {
	Row     []byte   // its key, after the number of the table
	Vector  []byte   // nil: it has none
	Entries [][]byte // their keys
}

// TakeUngraphed reads some rows that have entries written since a round and before another one, with their vectors.
func (x *Index) TakeUngraphed(src engine.Reader, since, before uint64, most int) (all []Ungraphed, err error) {
	taken := map[string]int{}
	err = x.ScanUngraphed(src, since, func(key []byte) (bool, error) {
		round, row, err := SplitRound(key)
		if err != nil || round >= before {
			return false, err
		}
		at, again := taken[string(row)]
		if !again {
			at = len(all)
			taken[string(row)] = at
			all = append(all, Ungraphed{Row: bytes.Clone(row)})
		}
		all[at].Entries = append(all[at].Entries, bytes.Clone(key))
		return len(all) < most, nil
	})
	for i := range all {
		if err == nil {
			all[i].Vector, err = x.StoredVector(src, all[i].Row)
		}
	}
	return all, err
}

// StoredVector returns the vector that a row has, or nil. A row that cannot be read has none.
func (x *Index) StoredVector(src engine.Reader, row []byte) (vector []byte, err error) {
	key := append(rows.AppendArea(make([]byte, 0, rows.AreaSize+len(row)), x.TableID, rows.AreaRows), row...)
	_, err = src.Get(key, func(value []byte) error {
		v, err := x.VectorOf(value)
		if err != nil && !errors.Is(err, rows.ErrRow) {
			return err
		}
		vector = bytes.Clone(v)
		return nil
	})
	return vector, err
}
