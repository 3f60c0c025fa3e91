package store

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/index"
)

// vectorWriter writes rows with vectors around some centres.
type vectorWriter struct {
	*Store
	t       testing.TB
	random  *rand.Rand
	dim     int
	centres [][]float32
	now     *clock
	written int64
}

func newVectorWriter(t testing.TB, s *Store, c *clock, dim int) *vectorWriter {
	w := &vectorWriter{Store: s, t: t, random: rand.New(rand.NewPCG(3, 4)), dim: dim, now: c}
	s.minGraphed.Store(200)
	s.minAdded.Store(20)
	for range 30 {
		w.centres = append(w.centres, w.around(make([]float32, dim), 1))
	}
	return w
}

func (w *vectorWriter) around(centre []float32, spread float64) []float32 {
	v := make([]float32, len(centre))
	for i := range v {
		v[i] = centre[i] + float32(spread*w.random.NormFloat64())
	}
	return v
}

func (w *vectorWriter) vector() []byte {
	var b []byte
	for _, f := range w.around(w.centres[w.random.IntN(len(w.centres))], 0.3) {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

// defineVectors defines the table with its index, and an index of another column.
func defineVectors(t testing.TB, s *Store, dim int) {
	t.Helper()
	spec := *newTable(t, "vectors", "k int", "c int", "v blob, w int")
	vector := *spec.Columns[2]
	vector.Type = &types.Vector{Elem: types.Float, Dim: dim}
	spec.Columns = slices.Clone(spec.Columns)
	spec.Columns[2] = &vector
	spec.Indexes = []*schema.Index{
		{
			Name: "near", Class: "StorageAttachedIndex", Targets: []schema.IndexTarget{{Column: "v"}},
			Options: map[string]string{"similarity_function": "euclidean"},
		},
		{Name: "other", Class: "StorageAttachedIndex", Targets: []schema.IndexTarget{{Column: "w"}}},
	}
	define(t, s, schema.NewTable(spec))
	waitForIndexes(t, s)
}

func (w *vectorWriter) table() *schema.Table { return w.Catalog().Table("ks", "vectors") }

// mutation changes a row: it writes its vector, removes that, deletes the row or the partition, or lets it expire.
func (w *vectorWriter) mutation(k, c int32, what int) *Mutation {
	w.written++
	table := w.table()
	m := NewMutation(table, types.EncodeInt(k))
	switch what {
	case 0:
		m.DeletePartition(w.written)
		return m
	case 1:
		m.Row([][]byte{types.EncodeInt(c)})
		m.DeleteRow(w.written)
		return m
	}
	m.Row([][]byte{types.EncodeInt(c)})
	switch what {
	case 2:
		m.Set(table.Column("v"), nil, w.written, Expiry{})
	case 3:
		e := Expiry{TTL: 5, At: w.now.now().Unix() + 5}
		m.Mark(w.written, e)
		m.Set(table.Column("v"), w.vector(), w.written, e)
	default:
		m.Mark(w.written, Expiry{})
		m.Set(table.Column("v"), w.vector(), w.written, Expiry{})
		m.Set(table.Column("w"), types.EncodeInt(c%3), w.written, Expiry{})
	}
	return m
}

func (w *vectorWriter) apply(m *Mutation) {
	w.t.Helper()
	if err := apply(w.Store, m); err != nil {
		w.t.Fatal(err)
	}
}

// nearRow is a row with its distance from what is looked for.
type nearRow struct {
	name     string
	distance float64
}

// nearestRows are the rows that a read delivers, the nearest first. It does what a SELECT does: it looks for more when
// there are too few.
func (w *vectorWriter) nearestRows(n *Nearest, vector []byte, limit int) []nearRow {
	w.t.Helper()
	table := w.table()
	of := index.AppendFloats(nil, vector)
	for {
		var all []nearRow
		r := Read{Table: table, Now: w.now.now().Unix(), Nearest: n}
		err := w.Read(w.t.Context(), &r, func(row *Row) (bool, error) {
			v := row.Values[table.Column("v").Index]
			if v == nil {
				return true, nil
			}
			sum := 0.0
			for i, f := range index.AppendFloats(nil, v) {
				sum += float64(f-of[i]) * float64(f-of[i])
			}
			all = append(all, nearRow{fmt.Sprintf("%x %x", row.Partition, row.Values[table.Column("c").Index]), sum})
			return true, nil
		})
		if err != nil {
			w.t.Fatal(err)
		}
		slices.SortFunc(all, func(a, b nearRow) int {
			return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
		})
		if len(all) >= limit {
			return all[:limit]
		}
		if n == nil || !n.Approximate {
			return all
		}
		n.Wide, n.Take = 8*n.Wide, 0
	}
}

// compare compares reads through graphs with reads of all rows. It returns how many went through graphs.
func (w *vectorWriter) compare(reads int) (approximate int) {
	w.t.Helper()
	found, wanted := 0, 0
	for range reads {
		v := w.vector()
		n := &Nearest{Index: w.table().Indexes[0], Vector: v, Wide: 100, Take: 25}
		got := w.nearestRows(n, v, 10)
		if n.Approximate {
			approximate++
		}
		want := w.nearestRows(nil, v, 10)
		if len(got) != len(want) {
			w.t.Fatalf("%d rows, want %d", len(got), len(want))
		}
		for _, row := range want {
			wanted++
			if slices.Contains(got, row) {
				found++
			}
		}
	}
	if found*100 < wanted*95 {
		w.t.Errorf("%d of %d rows are found", found, wanted)
	}
	return approximate
}

// awaitGraphs waits until graphs have nearly all rows.
func (w *vectorWriter) awaitGraphs() {
	w.t.Helper()
	x := w.vectorIndex()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		n, err := x.CountUngraphed(w.engine, 0, 1<<30)
		if err != nil {
			w.t.Fatal(err)
		}
		if n < int(w.minAdded.Load()) && len(w.graphs.Of(x.ID, w.restores.Load()).Segments) > 0 {
			return
		}
		if time.Now().After(end) {
			w.t.Fatalf("%d rows are in no graph", n)
		}
	}
}

func (w *vectorWriter) vectorIndex() *index.Index {
	state := w.state.Load()
	for _, x := range state.indexes[state.ids[w.table().ID]] {
		if x.IsVector() {
			return x
		}
	}
	w.t.Fatal("there is no index of vectors")
	return nil
}

// TestNearest writes, overwrites, deletes and lets expire at random, sweeps and opens the store again, and compares
// reads through graphs with reads of all rows. What was just written is found.
func TestNearest(t *testing.T) {
	dir, c := t.TempDir(), new(clock)
	c.micros.Store(1_700_000_000_000_000)
	o := Options{Now: c.now, SweepEvery: time.Hour}
	s := open(t, dir, o)
	defineVectors(t, s, 8)
	w := newVectorWriter(t, s, c, 8)
	for i := range int32(800) {
		w.apply(w.mutation(i%90, i/90, 4))
	}
	for round := range 4 {
		w.awaitGraphs()
		if w.compare(20) == 0 {
			t.Error("no read goes through graphs")
		}
		for range 150 {
			w.apply(w.mutation(w.random.Int32N(90), w.random.Int32N(12), w.random.IntN(12)))
			if w.random.IntN(10) == 0 {
				m := w.mutation(w.random.Int32N(90), 100, 4)
				w.apply(m)
				w.compareNew()
			}
		}
		c.micros.Add(10_000_000)
		w.compare(10)
		if round == 1 {
			if err := s.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if done, found := verifyAll(t, s); len(found) > 0 {
			t.Fatalf("%d faults: %v", done.Faults, found[:min(3, len(found))])
		}
		closeStore(t, s)
		s = open(t, dir, o)
		w.Store = s
		s.minGraphed.Store(200)
		s.minAdded.Store(20)
		for len(s.graphs.Of(w.vectorIndex().ID, s.restores.Load()).Segments) == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	if err := s.Truncate(t.Context(), w.table()); err != nil {
		t.Fatal(err)
	}
	v := w.vector()
	if rows := w.nearestRows(&Nearest{Index: w.table().Indexes[0], Vector: v, Wide: 100}, v, 10); len(rows) > 0 {
		t.Errorf("%d rows are left", len(rows))
	}
	closeStore(t, s)
}

// compareNew writes a row and looks for its vector at once.
func (w *vectorWriter) compareNew() {
	w.t.Helper()
	w.written++
	table, v := w.table(), w.vector()
	m := NewMutation(table, types.EncodeInt(1000))
	m.Row([][]byte{types.EncodeInt(int32(w.written))})
	m.Set(table.Column("v"), v, w.written, Expiry{})
	w.apply(m)
	rows := w.nearestRows(&Nearest{Index: table.Indexes[0], Vector: v, Wide: 20}, v, 1)
	if len(rows) != 1 || rows[0].distance != 0 {
		w.t.Errorf("what was written is not found: %v", rows)
	}
}

// TestNearestOfDamagedGraphs opens a store whose graph has another byte: it is made again of all rows.
func TestNearestOfDamagedGraphs(t *testing.T) {
	dir, c := t.TempDir(), new(clock)
	c.micros.Store(1_700_000_000_000_000)
	s := open(t, dir, Options{Now: c.now})
	defineVectors(t, s, 4)
	w := newVectorWriter(t, s, c, 4)
	for i := range int32(600) {
		w.apply(w.mutation(i%80, i/80, 4))
	}
	w.awaitGraphs()
	x := w.vectorIndex()
	key := x.GraphKey(s.graphs.Of(x.ID, s.restores.Load()).Segments[0].Number, 0)
	closeStore(t, s)
	s = open(t, dir, Options{Now: c.now, Still: true})
	if err := s.commit([]engine.Op{{Kind: engine.Put, Key: key, Value: []byte("no graph")}}); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	s = open(t, dir, Options{Now: c.now})
	defer closeStore(t, s)
	w.Store = s
	s.minGraphed.Store(200)
	s.minAdded.Store(20)
	w.awaitGraphs()
	if w.compare(10) == 0 {
		t.Error("no read goes through graphs")
	}
}

// A store that dies while a graph is made and entries are removed lacks no row when it is opened again.
func TestNearestAfterDeath(t *testing.T) {
	for i, writes := range []int64{1, 2, 3, 5, 8} {
		s, was, err := openDying(t, nil, many, i%2 == 0)
		if err != nil {
			t.Fatal(err)
		}
		c := new(clock)
		c.micros.Store(1_700_000_000_000_000)
		defineVectors(t, s, 4)
		w := newVectorWriter(t, s, c, 4)
		s.minGraphed.Store(1 << 30)
		for k := range int32(450) {
			w.apply(w.mutation(k%80, k/80, 4))
		}
		was.left.Store(writes)
		s.minGraphed.Store(200)
		for was.left.Load() > 0 {
			time.Sleep(time.Millisecond)
		}
		_ = s.Close()
		again, _, err := openDying(t, was.Memory, many, false)
		if err != nil {
			t.Fatal(err)
		}
		w.Store = again
		again.minGraphed.Store(200)
		again.minAdded.Store(20)
		w.awaitGraphs()
		if w.compare(10) == 0 {
			t.Error("no read goes through graphs")
		}
		closeStore(t, again)
	}
}

// A store that is restored has the graphs of what it holds.
func TestNearestOfImages(t *testing.T) {
	c := new(clock)
	c.micros.Store(1_700_000_000_000_000)
	s := openImaged(t, Options{Now: c.now})
	defineVectors(t, s, 4)
	w := newVectorWriter(t, s, c, 4)
	for i := range int32(600) {
		w.apply(w.mutation(i%80, i/80, 4))
	}
	w.awaitGraphs()
	image, err := s.Image()
	if err != nil {
		t.Fatal(err)
	}
	for i := range int32(200) {
		w.apply(w.mutation(i%80, 100+i/80, 4))
	}
	w.awaitGraphs()
	if _, err := s.Restore(image); err != nil {
		t.Fatal(err)
	}
	w.compare(10)
	w.awaitGraphs()
	if w.compare(10) == 0 {
		t.Error("no read goes through graphs")
	}
}
