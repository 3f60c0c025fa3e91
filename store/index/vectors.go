package index

import (
	"encoding/binary"
	"math"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/nearest"
	"github.com/cqld/cqld/store/rows"
)

// An index of vectors finds rows through graphs (see graphs.go). A write adds an entry which says only that the row
// has a vector (see rounds.go). The entry stays until a graph has the row with its current vector: a read takes the
// rows that graphs find and all rows with entries. It compares the vectors in the rows, so deleted and overwritten
// rows in a graph do no harm.

// setVector makes it an index of vectors if the column has vectors of floats.
func (x *Index) setVector(index *schema.Index) bool {
	v, ok := x.Column.Type.(*types.Vector)
	if !ok || v.Elem != types.Float || index.Kind() != schema.SAI || x.Column.Kind != schema.Regular {
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

// IsVector reports whether it is an index of vectors.
func (x *Index) IsVector() bool { return x.dim > 0 }

// VectorOf returns the vector of a row as it is stored, or nil. It is part of value.
func (x *Index) VectorOf(value []byte) ([]byte, error) {
	var r rows.Reader
	if err := r.ReadHead(value); err != nil {
		return nil, err
	}
	for r.ReadCell() {
		if c := &r.Cell; c.Column == x.Column.ID && !c.Deleted && len(c.Value) == 4*x.dim {
			return c.Value, nil
		}
	}
	return nil, r.Err
}

// AppendFloats appends the numbers of a vector.
func AppendFloats(dst []float32, vector []byte) []float32 {
	for ; len(vector) >= 4; vector = vector[4:] {
		dst = append(dst, math.Float32frombits(binary.BigEndian.Uint32(vector)))
	}
	return dst
}

// The entries of an index of vectors name the rows that no graph has. They are removed when a graph has them, and an
// engine may step over removed keys for long. So an entry has the round in which it was written, and reads begin with
// the first round that has entries.
//
// A round begins when rows are about to be added to a graph. Mutations that began earlier may still write entries of
// the round before; after they have ended, the entries of earlier rounds are complete.
//
// Nodes that share the engine count rounds each for itself, and their reads begin with the first entry.

// roundSize is how long a round is in the key of an entry.
const roundSize = 8

// appendRound appends the prefix of the entries that are written in a round.
func (x *Index) appendRound(dst []byte, round uint64) []byte {
	return binary.BigEndian.AppendUint64(x.AppendForm(dst, ofRound), round)
}

// UngraphedSpan is where the entries of an index of vectors are that were written since a round.
func (x *Index) UngraphedSpan(since uint64) Span {
	return Span{Start: x.appendRound(nil, since), End: rows.Successor(x.AppendForm(nil, ofRound))}
}

// SplitRound returns the round and the key of the row in the key of an entry of an index of vectors.
func SplitRound(key []byte) (round uint64, row []byte, err error) {
	rest := key[min(len(key), rows.AreaSize):]
	if len(rest) <= roundSize || rest[0] != ofRound {
		return 0, nil, rows.ErrKey
	}
	return binary.BigEndian.Uint64(rest[1:]), rest[1+roundSize:], nil
}

// ScanUngraphed calls fn with the keys of entries that were written since a round.
func (x *Index) ScanUngraphed(src engine.Reader, since uint64, fn func(key []byte) (bool, error)) error {
	span := x.UngraphedSpan(since)
	return src.Scan(span.Start, span.End, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
		return fn(key)
	})
}
