package rows

import (
	"bytes"
	"fmt"
	"math"
	"slices"
)

// Fold is the engine's fold function: it merges a delta into the value of a key, and appends the result to dst. It is
// commutative, associative and idempotent, so the engine may fold when and as often as it likes. A damaged value is an
// error, because going on would lose data.
func Fold(dst, key, existing, delta []byte) ([]byte, error) {
	if existing == nil {
		return append(dst, delta...), nil
	}
	if IsTombstoneKey(key) {
		return foldTombstones(dst, existing, delta)
	}
	return foldRows(dst, existing, delta)
}

func foldTombstones(dst, x, y []byte) ([]byte, error) {
	a, err := ReadTombstone(x)
	if err != nil {
		return nil, foldError(x, err)
	}
	b, err := ReadTombstone(y)
	if err != nil {
		return nil, foldError(y, err)
	}
	return a.Later(b).Append(dst), nil
}

// FoldRows merges two values of one row. The winner of each cell stays, unless a tombstone of the row or of its column
// hides it.
func FoldRows(x, y []byte) ([]byte, error) { return foldRows(nil, x, y) }

// foldRows is FoldRows, and appends the value to dst.
func foldRows(dst, x, y []byte) ([]byte, error) {
	var a, b Reader
	if err := a.ReadHead(x); err != nil {
		return nil, foldError(x, err)
	}
	if err := b.ReadHead(y); err != nil {
		return nil, foldError(y, err)
	}
	w := Writer{Head: foldHeads(&a.Head, &b.Head), Dst: slices.Grow(dst, foldedSize(len(x), len(y)))}
	var hidden columnTombstone
	write := func(c *Cell) {
		if !hidden.hides(c) && (c.Timestamp > w.Deletion.Timestamp || c.Counter) {
			w.WriteCell(c)
		}
	}
	asBefore := w.keepsBase(a.Base) && a.Base > w.Deletion.Timestamp
	moreB := b.ReadCell()
	nextA := func() bool {
		if asBefore {
			limit := uint32(math.MaxUint32)
			if moreB {
				limit = b.Cell.Column
			}
			w.Dst = append(w.Dst, a.readPlainBefore(limit)...)
		}
		return a.ReadCell()
	}
	moreA := nextA()
	for moreA || moreB {
		order := 0
		switch {
		case !moreB:
			order = -1
		case !moreA:
			order = 1
		default:
			order = a.Cell.Compare(&b.Cell)
		}
		switch {
		case order < 0:
			write(&a.Cell)
			moreA = nextA()
		case order > 0:
			write(&b.Cell)
			moreB = b.ReadCell()
		default:
			stays := a.Cell.Unite(&b.Cell)
			write(&stays)
			moreB = b.ReadCell()
			moreA = nextA()
		}
	}
	if a.Err != nil {
		return nil, foldError(x, a.Err)
	}
	if b.Err != nil {
		return nil, foldError(y, b.Err)
	}
	return w.Finish(), nil
}

// foldedSize is the initial capacity for folding two values. Most writes are small, or replace the old value.
func foldedSize(x, y int) int { return max(x, y) + min(x, y, 128) + 16 }

// foldHeads merges the heads of two values.
func foldHeads(a, b *Head) Head {
	h := Head{Marker: a.Marker, Deletion: a.Deletion.Later(b.Deletion), Clustering: a.Clustering}
	if b.Marker.Beats(&a.Marker) {
		h.Marker = b.Marker
	}
	if h.Marker.Timestamp <= h.Deletion.Timestamp {
		h.Marker = NoHead.Marker
	}
	if preferred(b.Clustering, a.Clustering) {
		h.Clustering = b.Clustering
	}
	return h
}

// preferred chooses between two spellings of clustering values: the shorter one, then the lesser. Of values of a
// user type that got more fields the shorter one was written first, and Cassandra keeps it.
func preferred(a, b []byte) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return bytes.Compare(a, b) < 0
}

// foldError reports a damaged value with its first bytes.
func foldError(value []byte, err error) error {
	return fmt.Errorf("%w (%d bytes: %x)", err, len(value), value[:min(len(value), 64)])
}

// columnTombstone is the tombstone of a whole collection. It goes over the cells of a row in their order, and is
// replaced at each column.
type columnTombstone struct {
	column uint32
	ts     int64
}

// hides reports whether the tombstone of its column hides c.
func (h *columnTombstone) hides(c *Cell) bool {
	if c.Path == nil {
		if h.column, h.ts = c.Column, NoTimestamp; c.Deleted {
			h.ts = c.Timestamp
		}
		return false
	}
	return c.Column == h.column && c.Timestamp <= h.ts
}

// DropHidden removes the elements of collections that a tombstone of their column hides.
func DropHidden(cells []Cell) []Cell {
	var h columnTombstone
	return slices.DeleteFunc(cells, func(c Cell) bool { return h.hides(&c) })
}
