package store

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
	"github.com/cqld/cqld/store/rows"
)

// awaitRound waits until graphs have nearly all rows, and reads begin behind the entries that are removed.
func (w *vectorWriter) awaitRound() index.GraphSet {
	w.t.Helper()
	w.awaitGraphs()
	x := w.vectorIndex()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		kept := w.graphs.Of(x.ID, w.restores.Load())
		first := kept.Since
		err := x.ScanUngraphed(w.engine, 0, func(key []byte) (more bool, err error) {
			first, _, err = index.SplitRound(key)
			return false, err
		})
		if err != nil {
			w.t.Fatal(err)
		}
		if kept.Since > 0 && first >= kept.Since {
			return kept
		}
		if time.Now().After(end) {
			w.t.Fatalf("reads begin with round %d, and there are entries of round %d", kept.Since, first)
		}
	}
}

// Entries that are removed are in earlier rounds than those that reads look at, also when the store is opened again.
func TestRounds(t *testing.T) {
	dir, c := t.TempDir(), new(clock)
	c.micros.Store(1_700_000_000_000_000)
	s := open(t, dir, Options{Now: c.now})
	defineVectors(t, s, 4)
	w := newVectorWriter(t, s, c, 4)
	var last uint64
	for round := range 3 {
		for i := range int32(400) {
			w.apply(w.mutation(i%50, i/50+8*int32(round%2), 4))
		}
		kept := w.awaitRound()
		if kept.Since <= last {
			t.Errorf("reads begin with round %d, before with %d", kept.Since, last)
		}
		last = kept.Since
		if w.compare(10) == 0 {
			t.Error("no read goes through graphs")
		}
		w.compareNew()
		closeStore(t, s)
		s = open(t, dir, Options{Now: c.now})
		w.Store = s
		s.minGraphed.Store(200)
		s.minAdded.Store(20)
	}

	w.awaitRound()
	closeStore(t, s)
}

// missing returns rows with a vector that no graph has, and that reads do not find by entries either. Of a row that is
// written meanwhile graphs may have the next vector.
func (w *vectorWriter) missing() (all []string) {
	w.t.Helper()
	x := w.vectorIndex()
	begin := rows.AppendArea(nil, x.TableID, rows.AreaRows)
	err := w.engine.View(func(src engine.Reader) error {
		kept := w.graphs.Of(x.ID, w.restores.Load())
		known := map[string]bool{}
		err := x.ScanUngraphed(src, kept.Since, func(key []byte) (bool, error) {
			_, row, err := index.SplitRound(key)
			known[string(row)] = true
			return true, err
		})
		if err != nil {
			return err
		}
		holds := func(row []byte, vector []float32) bool {
			return slices.ContainsFunc(kept.Segments, func(s *index.Segment) bool {
				for node := range s.Graph.Len() {
					if bytes.Equal(s.Graph.Key(node), row) && !s.Graph.IsDead(node) && s.Graph.Holds(node, vector) {
						return true
					}
				}
				return false
			})
		}
		end := rows.Successor(bytes.Clone(begin))
		return src.Scan(begin, end, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
			row := key[rows.AreaSize:]
			vector, err := x.VectorOf(value)
			if err != nil || vector == nil || known[string(row)] || holds(row, index.AppendFloats(nil, vector)) {
				return err == nil, err
			}
			_, err = w.engine.Get(key, func(now []byte) error {
				if bytes.Equal(now, value) {
					all = append(all, fmt.Sprintf("%x", row))
				}
				return nil
			})
			return err == nil, err
		})
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// What is written while graphs are made is in one or has an entry that reads look at, at any time.
func TestRoundsBesideWrites(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		c := new(clock)
		c.micros.Store(1_700_000_000_000_000)
		s := open(t, dir, Options{Now: c.now})
		defineVectors(t, s, 4)
		w := newVectorWriter(t, s, c, 4)
		s.minAdded.Store(1)
		var vectors [300][]byte
		for i := range vectors {
			vectors[i] = w.vector()
		}
		table := w.table()
		var writers sync.WaitGroup
		var writing atomic.Int32
		for n := range 4 {
			writing.Add(1)
			writers.Go(func() {
				defer writing.Add(-1)
				for i := 0; i < sized(500, 2000) || s.graphs.Round.Load() < uint64(sized(4, 12)) && i < 1_000_000; i++ {
					m := NewMutation(table, types.EncodeInt(int32((i*7+i/100)%100*4+n)))
					m.Row([][]byte{types.EncodeInt(1)})
					m.Set(table.Column("v"), vectors[(i*31+n)%len(vectors)], int64(i+1), Expiry{})
					if err := apply(s, m); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		looks := 0
		for ; writing.Load() > 0; looks++ {
			if all := w.missing(); len(all) > 0 {
				t.Fatalf("%d rows are nowhere, %s among them", len(all), all[0])
			}
		}
		writers.Wait()
		kept := w.awaitRound()
		if all := w.missing(); len(all) > 0 || len(kept.Segments) == 0 || looks == 0 {
			t.Fatalf("%d rows are nowhere, looked %d times before", len(all), looks)
		}
		closeStore(t, s)
	}
}
