package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/cqld/cqld/cql/types"
)

// compare reads in a random way at a second and compares with the model of what has been written.
func (p *player) compare(writes model, now int64) error {
	for range 2 {
		p.reads++
		r, w := p.drawRead(now)
		want := writes.rows(w)
		if err := p.compareRead(r, want); err != nil {
			return fmt.Errorf("%w\nread %+v with slices %+v", err, *r, w.slices)
		}
	}
	return nil
}

// modelPartitions are the partitions that may have been written to, and another.
var modelPartitions = []int32{0, 1, 2}

// drawRead draws a read, for the store and for the model.
func (p *player) drawRead(now int64) (*Read, *wanted) {
	t := pick(p.random, p.tables...)
	r := &Read{Table: t, Now: now, Reverse: p.random.IntN(2) == 0, Meta: p.random.IntN(2) == 0}
	w := &wanted{table: t, now: now, reverse: r.Reverse, partitions: slices.Clone(modelPartitions)}
	token := func(k int32) int64 { return types.Token(types.EncodeInt(k)) }
	if p.random.IntN(2) == 0 {
		p.random.Shuffle(len(w.partitions), func(i, j int) {
			w.partitions[i], w.partitions[j] = w.partitions[j], w.partitions[i]
		})
		w.partitions = w.partitions[:1+p.random.IntN(len(w.partitions))]
		for _, k := range w.partitions {
			r.Keys = append(r.Keys, types.EncodeInt(k))
		}
	} else {
		slices.SortFunc(w.partitions, func(a, b int32) int { return cmp.Compare(token(a), token(b)) })
	}
	if r.Keys == nil && p.random.IntN(2) == 0 {
		bound := func() int64 {
			return pick(p.random, math.MinInt64, math.MaxInt64, token(0), token(1), token(2), token(0)+1, token(1)-1)
		}
		r.Tokens = TokenRange{true, bound(), bound(), p.random.IntN(2) == 0, p.random.IntN(2) == 0}
		w.partitions = slices.DeleteFunc(w.partitions, func(k int32) bool {
			n, b := token(k), r.Tokens
			return n < b.Start || n == b.Start && !b.StartInclusive || n > b.End || n == b.End && !b.EndInclusive
		})
	}
	if len(t.Clustering) > 0 && p.random.IntN(2) == 0 {
		w.slices = p.drawSlices()
		for i := range w.slices {
			r.Slices = append(r.Slices, w.slices[i].stored())
		}
	}
	return r, w
}

// drawSlices draws slices that do not overlap, in the order of their rows.
func (p *player) drawSlices() (drawn []modelSlice) {
	all := placesOf(p.tables[0], false)
	last := -1
	for range 3 {
		s := drawSlice(p.random)
		first := slices.IndexFunc(all, s.has)
		if first <= last {
			continue
		}
		drawn = append(drawn, s)
		for i, place := range all {
			if s.has(place) {
				last = i
			}
		}
	}
	if drawn == nil {
		return []modelSlice{drawSlice(p.random)}
	}
	return drawn
}

// compareRead reads in pages, and passes the rest of a partition now and then.
func (p *player) compareRead(r *Read, want []*Row) error {
	page := *r
	for {
		count, left := 0, 1+p.random.IntN(12)
		var problem error
		err := p.store.Read(context.Background(), &page, func(row *Row) (bool, error) {
			count++
			if len(want) == 0 {
				problem = fmt.Errorf("there is %s too", formatRow(r.Table, row))
				return false, nil
			}
			if !equalRows(row, want[0], r.Meta) {
				problem = fmt.Errorf("read  %s\nmodel %s\n%+v %+v", formatRow(r.Table, row), formatRow(r.Table, want[0]), row,
					want[0])
				return false, nil
			}
			want = want[1:]
			page.After = positionOf(r, row)
			left--
			return left > 0, nil
		})
		switch {
		case err != nil || problem != nil:
			return errorsOf(problem, err)
		case count == 0 || left > 0:
			if len(want) > 0 {
				return fmt.Errorf("there is no %s", formatRow(r.Table, want[0]))
			}
			return nil
		case p.random.IntN(6) == 0:
			page.After.Whole = true
			for len(want) > 0 && bytes.Equal(want[0].Partition, page.After.Partition) {
				want = want[1:]
			}
		}
	}
}

func errorsOf(problem, err error) error {
	if problem != nil {
		return problem
	}
	return err
}

// positionOf names a row.
func positionOf(r *Read, row *Row) *Position {
	at := &Position{Partition: bytes.Clone(row.Partition)}
	if !row.Static {
		for _, c := range r.Table.Clustering {
			at.Clustering = append(at.Clustering, bytes.Clone(row.Values[c.Index]))
		}
	}
	return at
}

// equalRows compares a row with the model's, and what WRITETIME and TTL show of it if that was asked for.
func equalRows(got, want *Row, meta bool) bool {
	same := bytes.Equal(got.Partition, want.Partition) && got.Static == want.Static &&
		slices.EqualFunc(got.Values, want.Values, func(a, b []byte) bool {
			return (a == nil) == (b == nil) && bytes.Equal(a, b)
		})
	return same && (!meta || reflect.DeepEqual(got.Meta, want.Meta))
}
