package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/nearest"
	"github.com/cqld/cqld/store/rows"
)

// An index of vectors has its rows in graphs (see index_graphs.go). A write adds an entry that says only that the row
// has a vector (see index_rounds.go). The entry is there until a graph has the row with the vector that it has then: a
// read takes the rows that graphs find, and all rows with entries. It compares the vectors that the rows have, so what
// a graph has of deleted and overwritten rows does no harm.

// Nearest says that of a table's rows only those are wanted whose vectors are nearest to a given one.
type Nearest struct {
	Index  *schema.Index
	Vector []byte
	Wide   int // how many rows graphs look for: the more, the fewer near ones are missed
	Take   int // how many of these are delivered, beside those that no graph has yet; 0: all

	// Approximate is set by the read: rows were left out. A read without it delivers all rows that are wanted.
	Approximate bool
}

// What a read goes through at most before graphs cost more than all rows.
const (
	mostUngraphed = 4096 // entries of rows that no graph has yet
	fewFiltered   = 2000 // entries of another index: rows with these are compared one by one
)

// setVector makes it an index of vectors if the column has vectors of floats.
func (x *keptIndex) setVector(index *schema.Index) bool {
	v, ok := x.column.Type.(*types.Vector)
	if !ok || v.Elem != types.Float || index.Kind() != schema.SAI || x.column.Kind != schema.Regular {
		return false
	}
	x.dim = v.Dim
	switch index.Similarity() {
	case "EUCLIDEAN":
		x.measure = nearest.Euclidean
	case "DOT_PRODUCT":
		x.measure = nearest.DotProduct
	default:
		x.measure = nearest.Cosine
	}
	return true
}

// isVector reports whether it is an index of vectors.
func (x *keptIndex) isVector() bool { return x.dim > 0 }

// vectorOf returns the vector of a row as it is stored, or nil. It is part of value.
func (x *keptIndex) vectorOf(value []byte) ([]byte, error) {
	var r rows.Reader
	if err := r.ReadHead(value); err != nil {
		return nil, err
	}
	for r.ReadCell() {
		if c := &r.Cell; c.Column == x.column.ID && !c.Deleted && len(c.Value) == 4*x.dim {
			return c.Value, nil
		}
	}
	return nil, r.Err
}

// appendFloats appends the numbers of a vector.
func appendFloats(dst []float32, vector []byte) []float32 {
	for ; len(vector) >= 4; vector = vector[4:] {
		dst = append(dst, math.Float32frombits(binary.BigEndian.Uint32(vector)))
	}
	return dst
}

// chooseGraphs gathers the rows that are near to a vector. It reports false if all rows are to be compared.
func (r *reader) chooseGraphs() (bool, error) {
	read, n := r.read, r.read.Nearest
	n.Approximate = false
	if read.Keys != nil || !read.allRows() || read.Reverse || read.After != nil || read.Tokens != (TokenRange{}) {
		return false, nil
	}
	x := r.keptIndex(n.Index)
	if x == nil || !x.isVector() {
		return false, nil
	}
	if r.era != r.store.restores.Load() {
		return false, errTruncated
	}
	kept := r.store.graphs.of(x.id, r.era)
	nodes := 0
	for _, s := range kept.segments {
		nodes += s.graph.Len()
	}
	if nodes == 0 || n.Wide > nodes/4 {
		return false, nil
	}
	if few, err := r.fewFiltered(); err != nil || few {
		return false, err
	}
	keys, err := r.ungraphedRows(x, kept.since)
	if err != nil || len(keys) == mostUngraphed {
		return false, err
	}
	l := &r.lookup
	l.index, l.entry, l.others = x, nil, l.others[:0]
	l.gather = gathering{rows: append(keys, searchGraphs(kept.segments, n)...)}
	l.gather.sort()
	n.Approximate = true
	read.Indexed.use(n.Index.Name)
	return true, nil
}

// fewFiltered reports whether other indexes leave so few rows that these are compared one by one.
func (r *reader) fewFiltered() (bool, error) {
	for i := range r.read.Lookups {
		x := r.keptIndex(r.read.Lookups[i].Index)
		if x == nil {
			continue
		}
		for _, span := range x.entriesOf(&r.read.Lookups[i]) {
			n := 0
			err := r.src.Scan(span.start, span.end, engine.ScanOptions{KeysOnly: true}, func(_, _ []byte) (bool, error) {
				n++
				return n < fewFiltered, nil
			})
			if err != nil || n < fewFiltered {
				return true, err
			}
		}
	}
	return false, nil
}

// ungraphedRows are the keys of rows that have entries since a round: mostUngraphed of them, or all.
func (r *reader) ungraphedRows(x *keptIndex, since uint64) (keys [][]byte, err error) {
	err = x.scanUngraphed(r.src, since, func(key []byte) (bool, error) {
		_, row, err := splitRound(key)
		keys = append(keys, bytes.Clone(row))
		return len(keys) < mostUngraphed, err
	})
	return keys, err
}

// searchGraphs returns the keys of the rows that are nearest, of all graphs.
func searchGraphs(segments []*segment, n *Nearest) (keys [][]byte) {
	type candidate struct {
		nearest.Found
		graph *nearest.Graph
	}
	var all []candidate
	vector := appendFloats(nil, n.Vector)
	for _, s := range segments {
		for _, f := range s.graph.Search(vector, n.Wide) {
			all = append(all, candidate{f, s.graph})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.Distance, b.Distance) })
	if n.Take > 0 && len(all) > n.Take {
		all = all[:n.Take]
	}
	for _, c := range all {
		keys = append(keys, c.graph.Key(int(c.Node)))
	}
	return keys
}

// graphed is a row that a graph is to have.
type graphed struct {
	row     []byte   // its key, behind the number of the table
	vector  []byte   // nil: it has none
	entries [][]byte // their keys
}

// takeUngraphed reads some rows that have entries written since a round and before another one, with their vectors.
func (s *Store) takeUngraphed(x *keptIndex, since, before uint64, most int) (all []graphed, err error) {
	taken := map[string]int{}
	err = x.scanUngraphed(s.engine, since, func(key []byte) (bool, error) {
		round, row, err := splitRound(key)
		if err != nil || round >= before {
			return false, err
		}
		at, again := taken[string(row)]
		if !again {
			at = len(all)
			taken[string(row)] = at
			all = append(all, graphed{row: bytes.Clone(row)})
		}
		all[at].entries = append(all[at].entries, bytes.Clone(key))
		return len(all) < most, nil
	})
	for i := range all {
		if err == nil {
			all[i].vector, err = s.storedVector(s.engine, x, all[i].row)
		}
	}
	return all, err
}

// storedVector returns the vector that a row has, or nil. A row that cannot be read has none.
func (s *Store) storedVector(src engine.Reader, x *keptIndex, row []byte) (vector []byte, err error) {
	key := append(rows.AppendArea(make([]byte, 0, rows.AreaSize+len(row)), x.tableID, rows.AreaRows), row...)
	_, err = src.Get(key, func(value []byte) error {
		v, err := x.vectorOf(value)
		if err != nil && !errors.Is(err, rows.ErrRow) {
			return err
		}
		vector = bytes.Clone(v)
		return nil
	})
	return vector, err
}
