package store

import (
	"bytes"
	"fmt"
)

// fold is the engine's fold function: what a key holds after a delta. It is commutative, associative and
// idempotent, so it does not matter when and how often the engine calls it.
func fold(key, existing, delta []byte) []byte {
	if existing == nil {
		return bytes.Clone(delta)
	}
	if isDeletionKey(key) {
		return readTombstone(existing).max(readTombstone(delta)).append(nil)
	}
	return foldRows(existing, delta)
}

func isDeletionKey(key []byte) bool { return key[areaSize-1]&1 == areaDeletions }

// foldRows unites two values of one row: of each part the one that beats the other, without what the
// row tombstone and those of columns hide.
func foldRows(x, y []byte) []byte {
	var a, b rowReader
	if err := a.begin(x); err != nil {
		panic(foldError(x, err))
	}
	if err := b.begin(y); err != nil {
		panic(foldError(y, err))
	}
	w := rowWriter{head: foldHeads(&a.head, &b.head), dst: make([]byte, 0, len(x)+len(y)+16)}
	var hidden hiding
	write := func(c *cell) {
		if !hidden.hides(c) && (c.ts > w.deletion.ts || c.counter) {
			w.cell(c)
		}
	}
	moreA, moreB := a.next(), b.next()
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
			moreA = a.next()
		case order > 0:
			write(&b.cell)
			moreB = b.next()
		default:
			stays := a.cell.unite(&b.cell)
			write(&stays)
			moreA, moreB = a.next(), b.next()
		}
	}
	if a.err != nil {
		panic(foldError(x, a.err))
	}
	if b.err != nil {
		panic(foldError(y, b.err))
	}
	return w.finish()
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

// foldError is for a value that nothing of ours can have written: going on would lose data.
func foldError(value []byte, err error) string {
	return fmt.Sprintf("store: %v (%d bytes: %x)", err, len(value), value[:min(len(value), 64)])
}
