package index

import (
	"encoding/binary"
	"math"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/nearest"
	"github.com/cqld/cqld/store/rows"
)

// An index of vectors finds rows through graphs (see graphs.go). A write adds an entry which says only that the row has
// a vector (see rounds.go). The entry stays until a graph has the row with its current vector: a read takes the rows that
// graphs find and all rows with entries. It compares the vectors in the rows, so deleted and overwritten rows in a graph do
// no harm.

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
