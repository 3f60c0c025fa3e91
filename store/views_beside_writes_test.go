package store

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

var (
	besideWriters = flag.Int("writers", 6, "how many clients write in TestViewsBesideWrites and TestIndexesBesideWrites")
	besideFor     = flag.Duration("writing", 0, "how long they write at least")
)

// baseWriter writes random rows to a base.
type baseWriter struct {
	*Store
	base    *schema.Table
	rand    *rand.Rand
	written int64
}

func (w *baseWriter) small() []byte { return types.EncodeInt(int32(w.rand.IntN(5))) }

func (w *baseWriter) expiry() Expiry {
	if w.rand.IntN(3) > 0 {
		return Expiry{}
	}
	return Expiry{TTL: 10, At: int64(995 + w.rand.IntN(20))}
}

// mutation is of one partition. Its timestamps are so few that writers often have the same one.
func (w *baseWriter) mutation(partition []byte, ts int64) *Mutation {
	m := NewMutation(w.base, partition)
	switch w.rand.IntN(40) {
	case 0:
		m.DeletePartition(ts)
		return m
	case 1, 2:
		c := [][]byte{w.small()}
		m.DeleteRange(Slice{Start: c, End: c, StartInclusive: true, EndInclusive: true}, ts)
		return m
	case 3:
		m.DeleteRange(Slice{Start: [][]byte{w.small()}}, ts)
		return m
	}
	if w.rand.IntN(5) == 0 {
		m.Static()
		m.Set(w.base.Column("s"), w.small(), ts, w.expiry())
	}
	for range 1 + w.rand.IntN(2) {
		m.Row([][]byte{w.small(), w.small()})
		switch w.rand.IntN(8) {
		case 0:
			m.DeleteRow(ts)
			continue
		case 1:
			m.Set(w.base.Column("v"), nil, ts, Expiry{})
			continue
		case 2, 3, 4:
			m.Mark(ts, w.expiry())
		}
		if w.rand.IntN(4) > 0 {
			m.Set(w.base.Column("v"), w.small(), ts, w.expiry())
		}
		if w.rand.IntN(3) > 0 {
			m.Set(w.base.Column("w"), []byte(strings.Repeat("w", w.rand.IntN(3))), ts, w.expiry())
		}
		m.SetPart(w.base.Column("m"), w.small(), []byte("part"), ts, w.expiry())
	}
	return m
}

// write applies a mutation, or a batch of several partitions, or a conditional change of v.
func (w *baseWriter) write(t *testing.T) error {
	w.written++
	ts := w.written/10 + int64(1+w.rand.IntN(50))
	if w.rand.IntN(4) > 0 {
		var ms []*Mutation
		first := w.rand.IntN(6)
		for i := range 1 + w.rand.IntN(3) {
			ms = append(ms, w.mutation(types.EncodeInt(int32((first+i)%6)), ts))
		}
		return apply(w.Store, ms...)
	}
	key, row, expiry := w.small(), [][]byte{w.small(), w.small()}, w.expiry()
	return decideAndWait(w.Store, w.base, key, func(now *Snapshot) ([]*Mutation, error) {
		v := 0
		slice := Slice{Start: row, End: row, StartInclusive: true, EndInclusive: true}
		read := &Read{Table: w.base, Now: 1000, Keys: [][]byte{key}, Slices: []Slice{slice}}
		err := now.Read(t.Context(), read, func(r *Row) (bool, error) {
			if value := r.Values[w.base.Column("v").Index]; !r.Static && value != nil {
				v = int(value[3])
			}
			return true, nil
		})
		m := NewMutation(w.base, key)
		m.Row(row)
		m.Set(w.base.Column("v"), types.EncodeInt(int32((v+1)%5)), ts, expiry)
		return []*Mutation{m}, err
	})
}

// viewOfBase returns the rows that a view should have, as text and in no order, from all rows of its base.
func viewOfBase(t *testing.T, s *Store, base, view *schema.Table, now int64) (all []string) {
	t.Helper()
	err := s.Read(t.Context(), &Read{Table: base, Now: now, Meta: true}, func(row *Row) (bool, error) {
		if row.Static {
			return true, nil
		}
		for i := range view.View.Where {
			if !view.View.Where[i].Holds(base, row.Values) {
				return true, nil
			}
		}
		made := Row{Values: make([][]byte, len(view.Columns)), Meta: make([]CellMeta, len(view.Columns))}
		for _, c := range view.Columns {
			at := base.Column(c.Name).Index
			if made.Values[c.Index] = row.Values[at]; c.Kind.IsKey() && row.Values[at] == nil {
				return true, nil
			}
			made.Meta[c.Index] = row.Meta[at]
		}
		all = append(all, formatRow(view, &made))
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// TestViewsBesideWrites defines views while several writers change their base in every way. In the end each view has
// the rows that its base gives it: at several times, and again after a sweep and after a reopening.
func TestViewsBesideWrites(t *testing.T) {
	dir, now := t.TempDir(), new(clock)
	now.micros.Store(1000e6)
	options := Options{Now: now.now, SweepEvery: time.Hour}
	s := open(t, dir, options)
	spec := *newTable(t, "base", "k int", "c int, d int desc", "s int static, v int, w text, m map<int:text>")
	spec.Options.GCGraceSeconds = 5
	define(t, s, schema.NewTable(spec))
	base := s.Catalog().Table("ks", "base")
	listed := schema.ViewRelation{Columns: []string{"v"}, Test: schema.OneOf, Values: intPoints(1, 2)}
	views := []*schema.Table{
		viewOf(base, newTable(t, "byv", "v int", "c int desc, k int, d int", "w text, m map<int:text>")),
		viewOf(base, newTable(t, "byc", "c int", "d int, k int desc", "m map<int:text>, v int")),
		viewOf(base, newTable(t, "bykw", "k int", "w text desc, d int, c int", "v int")),
		viewOf(base, newTable(t, "listed", "v int, k int", "c int, d int", "w text"), listed),
	}
	define(t, s, views[:2]...)
	writeTogether(t, s, base, func() { define(t, s, views[2:]...) })
	waitForIndexes(t, s)
	compare := func(when string) {
		t.Helper()
		base := s.Catalog().Table("ks", "base")
		for _, view := range views {
			view := s.Catalog().Table("ks", view.Name)
			for _, second := range []int64{1000, 1003, 1008, 1015} {
				want := viewOfBase(t, s, base, view, second)
				got := readRows(t, s, &Read{Table: view, Now: second, Meta: true})
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("%s, %s at %d\ngot:  %q\nwant: %q", when, view.Name, second, got, want)
				}
			}
			if got := viewOfBase(t, s, base, view, 1000); len(got) < 3 {
				t.Errorf("%s, %s has %d rows only", when, view.Name, len(got))
			}
		}
		if _, faults := verifyAll(t, s); len(faults) > 0 {
			t.Errorf("%s: %q", when, faults)
		}
	}
	compare("after the writes")
	now.micros.Store(1100e6)
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	compare("after a sweep")
	closeStore(t, s)
	s = open(t, dir, options)
	defer closeStore(t, s)
	waitForIndexes(t, s)
	compare("after a reopening")
}

// writeTogether has several writers change a base, and calls fn in the midst of it.
func writeTogether(t *testing.T, s *Store, base *schema.Table, fn func()) {
	const writes = 150
	began := time.Now()
	var all sync.WaitGroup
	halfway := make(chan struct{}, *besideWriters)
	errs := make(chan error, *besideWriters)
	for i := range *besideWriters {
		all.Go(func() {
			w := &baseWriter{Store: s, base: base, rand: rand.New(rand.NewPCG(uint64(i), 2))}
			for n := 0; n < writes || time.Since(began) < *besideFor; n++ {
				if n == writes/2 {
					halfway <- struct{}{}
				}
				if err := w.write(t); err != nil {
					errs <- fmt.Errorf("writer %d: %w", i, err)
					halfway <- struct{}{}
					return
				}
			}
		})
	}
	<-halfway
	fn()
	all.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
}
