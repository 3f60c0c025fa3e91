package store

import (
	"bytes"
	"math"
	"slices"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
)

// gathering is a read through the entries of more than one value. These are not in the order of the rows, so the keys
// of the rows are gathered and sorted in portions, with one pass over the entries for each portion.
type gathering struct {
	spans    []index.Span
	from, to []byte // the keys of rows that are wanted
	rows     [][]byte
	rest     []byte // where the next portion begins; nil: there is none
}

// The most of a portion.
const (
	maxGathered      = 20_000
	maxGatheredBytes = 4 << 20
)

// beginGathering gathers the first portion. It reports false if reading the table costs less.
func (r *reader) beginGathering(spans []index.Span) (bool, error) {
	g := &r.lookup.gather
	*g = gathering{spans: spans}
	var ok bool
	if g.from, g.to, ok = r.rowBounds(); !ok {
		return true, nil
	}
	return r.gatherRows(r.worthGathering())
}

// worthGathering is how many entries may be read instead of the table. A scan of the table passes Want × rows /
// entries rows until it has found enough, and reading an entry costs a fraction of reading a row in order; finding a
// row by its key costs more than that.
func (r *reader) worthGathering() int {
	if r.read.Keys != nil {
		return r.store.gathered
	}
	e := r.store.usages.Of(r.id).Estimate()
	n := float64(e.Rows) / 16
	if r.read.Want > 0 {
		n = min(n, math.Sqrt(float64(r.read.Want)*float64(e.Rows)))
	}
	return max(r.store.gathered, int(n))
}

// gatherRows gathers a portion: the first keys of rows from g.from on. It reports false if there are more entries than
// most.
func (r *reader) gatherRows(most int) (bool, error) {
	g := &r.lookup.gather
	g.rows, g.rest = g.rows[:0], nil
	size, seen := 0, 0
	take := func(key, value []byte) (bool, error) {
		if seen++; seen%RowsPerStep == 0 {
			if err := r.step(); err != nil {
				return false, err
			}
		}
		n, err := index.EntryLength(key, value)
		if err != nil {
			return false, err
		}
		row := key[n:]
		if bytes.Compare(row, g.from) < 0 || len(g.to) > 0 && bytes.Compare(row, g.to) >= 0 ||
			g.rest != nil && bytes.Compare(row, g.rest) >= 0 {
			return seen <= most, nil
		}
		g.rows = append(g.rows, bytes.Clone(row))
		if size += len(row); len(g.rows) > 2*r.store.gathered || size > 2*maxGatheredBytes {
			size = g.cut()
		}
		return seen <= most, nil
	}
	for _, span := range g.spans {
		if err := r.src.Scan(span.Start, span.End, engine.ScanOptions{}, take); err != nil {
			return false, err
		}
	}
	if seen > most {
		return false, nil
	}
	g.sort()
	return true, nil
}

func (g *gathering) sort() {
	slices.SortFunc(g.rows, bytes.Compare)
	g.rows = slices.CompactFunc(g.rows, bytes.Equal)
}

// cut keeps the first half of the rows, and returns the bytes of their keys.
func (g *gathering) cut() (size int) {
	g.sort()
	kept := (len(g.rows) + 1) / 2
	if kept < len(g.rows) {
		g.rest = g.rows[kept]
	}
	clear(g.rows[kept:])
	g.rows = g.rows[:kept]
	for _, row := range g.rows {
		size += len(row)
	}
	return size
}

// eachGathered reads the rows whose keys were gathered, portion by portion.
func (r *reader) eachGathered() error {
	g := &r.lookup.gather
	for {
		r.lookup.prefetch.begin(r)
		for _, row := range g.rows {
			if more, err := r.addCandidate(row); err != nil || !more {
				return err
			}
		}
		if more, err := r.takeCandidates(); err != nil || !more {
			return err
		}
		if g.rest == nil {
			return nil
		}
		g.from = g.rest
		if _, err := r.gatherRows(math.MaxInt); err != nil {
			return err
		}
	}
}
