package store

import (
	"bytes"
	"fmt"
	"math"

	"github.com/cqld/cqld/store/engine"
)

// fold is the engine's fold function: what a key holds after a delta. It is commutative, associative and
// idempotent, so it does not matter when and how often the engine calls it. What is damaged is not folded: going on
// would lose data.
func fold(key, existing, delta []byte) ([]byte, error) {
	if existing == nil {
		return bytes.Clone(delta), nil
	}
	if isDeletionKey(key) {
		return foldTombstones(existing, delta)
	}
	return foldRows(existing, delta)
}

var _ engine.Fold = fold

func foldTombstones(x, y []byte) ([]byte, error) {
	a, err := readTombstone(x)
	if err != nil {
		return nil, foldError(x, err)
	}
	b, err := readTombstone(y)
	if err != nil {
		return nil, foldError(y, err)
	}
	return a.max(b).append(nil), nil
}

func isDeletionKey(key []byte) bool {
	return len(key) >= areaSize && key[areaSize-1]&1 == areaDeletions
}

// foldRows unites two values of one row: of each part the one that beats the other, without what the
// row tombstone and those of columns hide.
func foldRows(x, y []byte) ([]byte, error) {
	var a, b rowReader
	if err := a.begin(x); err != nil {
		return nil, foldError(x, err)
	}
	if err := b.begin(y); err != nil {
		return nil, foldError(y, err)
	}
	w := rowWriter{head: foldHeads(&a.head, &b.head), dst: make([]byte, 0, len(x)+len(y)+16)}
	var hidden hiding
	write := func(c *cell) {
		if !hidden.hides(c) && (c.ts > w.deletion.ts || c.counter) {
			w.cell(c)
		}
	}
	asBefore := w.keepsBase(a.base) && a.base > w.deletion.ts
	moreB := b.next()
	nextA := func() bool {
		if asBefore {
			limit := uint32(math.MaxUint32)
			if moreB {
				limit = b.cell.column
			}
			w.dst = append(w.dst, a.plainBefore(limit)...)
		}
		return a.next()
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
			order = a.cell.compareColumns(&b.cell)
		}
		switch {
		case order < 0:
			write(&a.cell)
			moreA = nextA()
		case order > 0:
			write(&b.cell)
			moreB = b.next()
		default:
			stays := a.cell.unite(&b.cell)
			write(&stays)
			moreB = b.next()
			moreA = nextA()
		}
	}
	if a.err != nil {
		return nil, foldError(x, a.err)
	}
	if b.err != nil {
		return nil, foldError(y, b.err)
	}
	return w.finish(), nil
}

// foldHeads unites what two values say of their row as a whole. Two spellings of a clustering value are
// settled by their bytes.
func foldHeads(a, b *head) head {
	h := head{marker: a.marker, deletion: a.deletion.max(b.deletion), clustering: a.clustering}
	if b.marker.beats(&a.marker) {
		h.marker = b.marker
	}
	if h.marker.ts <= h.deletion.ts {
		h.marker = noHead.marker
	}
	if preferred(b.clustering, a.clustering) {
		h.clustering = b.clustering
	}
	return h
}

// preferred chooses between two spellings of clustering values: the shorter one, which of values of a type that got
// more fields is the one written first, as Cassandra has it; else the lesser.
func preferred(a, b []byte) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return bytes.Compare(a, b) < 0
}

// foldError is for a value that nothing of ours can have written.
func foldError(value []byte, err error) error {
	return fmt.Errorf("%w (%d bytes: %x)", err, len(value), value[:min(len(value), 64)])
}
