package nearest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"
)

var many = flag.Int("vectors", 3000, "how many vectors TestRecall has")

var tryMany = flag.Int("tried", triedDefault(), "how many vectors TestTry has")

func triedDefault() int {
	if os.Getenv("TEST_CQLD_FULL") != "" {
		return 10_000
	}
	return 6000
}

var tryMeasures = flag.Int("triedmeasures", 1, "how many measures TestTry tries")

var tryDimension = flag.Int("trieddimension", 100, "of the vectors of TestTry")

var wide = flag.Int("wide", 128, "how many vectors TestRecall searches for; statements search for 160 at least")

var dimension = flag.Int("dimension", 32, "of the vectors of TestRecall")

// clustered makes vectors around some centres.
type clustered struct {
	random  *rand.Rand
	centres [][]float32
}

func newClustered(dim int) *clustered {
	c := &clustered{random: rand.New(rand.NewPCG(1, 2))}
	for range 100 {
		c.centres = append(c.centres, c.around(make([]float32, dim), 1))
	}
	return c
}

func (c *clustered) around(centre []float32, spread float64) []float32 {
	v := make([]float32, len(centre))
	for i := range v {
		v[i] = centre[i] + float32(spread*c.random.NormFloat64())
	}
	return v
}

func (c *clustered) next() []float32 {
	return c.around(c.centres[c.random.IntN(len(c.centres))], 0.5)
}

// graph has the next n vectors.
func (c *clustered) graph(n int) *Graph {
	b := NewBuilder(New(Euclidean, len(c.centres[0])))
	for i := range n {
		b.Add([]byte{byte(i)}, c.next())
	}
	return b.Graph()
}

// nearestOf returns the nodes that are really nearest.
func nearestOf(g *Graph, v []float32, k int) []Found {
	v = slices.Clone(v)
	g.measure.prepare(v)
	var all []Found
	for n := range g.Len() {
		if !g.dead[n] {
			all = append(all, Found{int32(n), g.measure.distance(v, g.vector(int32(n)))})
		}
	}
	slices.SortFunc(all, compareFound)
	return all[:min(k, len(all))]
}

// Of the ten nearest at least 95 of 100 are found, by every measure, after encoding and with dead nodes.
func TestRecall(t *testing.T) {
	for _, m := range []Measure{Euclidean, Cosine, DotProduct} {
		c := newClustered(*dimension)
		b := NewBuilder(New(m, *dimension))
		began := time.Now()
		for i := range *many {
			if !b.Add(binary.BigEndian.AppendUint32(nil, uint32(i)), c.next()) {
				t.Fatal("a vector has no place")
			}
		}
		built := time.Since(began)
		for i := 0; i < *many; i += 7 {
			b.Kill(i)
		}
		g, err := Decode(b.Graph().Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if g.Dead() != (*many+6)/7 || g.Len() != *many {
			t.Errorf("%d of %d nodes are dead", g.Dead(), g.Len())
		}
		found, wanted := 0, 0
		var took []time.Duration
		for range 100 {
			v := c.next()
			began := time.Now()
			got := g.Search(v, *wide)
			took = append(took, time.Since(began))
			for _, w := range nearestOf(g, v, 10) {
				wanted++
				if slices.Contains(got[:min(10, len(got))], w) {
					found++
				}
			}
		}
		slices.Sort(took)
		t.Logf("measure %d: recall@10 %.3f, p50 %v, %v for each vector added", m, float64(found)/float64(wanted),
			took[len(took)/2], built/time.Duration(*many))
		if found*100 < wanted*95 {
			t.Errorf("measure %d: %d of %d are found", m, found, wanted)
		}
	}
}

// The nearest of vectors without clusters are hard to find: a graph that was tried out is searched wider, until 95 of
// 100 are found. One whose vectors lie in clusters is not.
func TestTry(t *testing.T) {
	dim := *tryDimension
	random := rand.New(rand.NewPCG(5, 6))
	for m := range Measure(*tryMeasures) {
		anywhere := func() []float32 {
			v := make([]float32, dim)
			for i := range v {
				v[i] = float32(random.NormFloat64())
			}
			return v
		}
		c := newClustered(dim)
		for name, next := range map[string]func() []float32{"anywhere": anywhere, "in clusters": c.next} {
			b := NewBuilder(New(m, dim))
			for i := range *tryMany {
				b.Add(binary.BigEndian.AppendUint32(nil, uint32(i)), next())
			}
			g := b.Graph()
			steps := 0
			began := time.Now()
			if err := g.Try(func() error { steps++; return nil }); err != nil || steps == 0 {
				t.Fatalf("%v after %d steps", err, steps)
			}
			tried := time.Since(began)
			again, err := Decode(g.Append(nil))
			if err != nil || again.effort != g.effort {
				t.Fatalf("an effort of %d becomes %d, error %v", g.effort, again.effort, err)
			}
			recall := func(g *Graph) (float64, time.Duration) {
				found := 0
				var took []time.Duration
				for range 50 {
					v := next()
					began := time.Now()
					got := g.Search(v, triedWidth)
					took = append(took, time.Since(began))
					if len(got) > triedWidth {
						t.Errorf("%d are returned", len(got))
					}
					for _, w := range nearestOf(g, v, 10) {
						if slices.Contains(got, w) {
							found++
						}
					}
				}
				slices.Sort(took)
				return float64(found) / 500, took[len(took)/2]
			}
			after, long := recall(again)
			again.effort = 1
			before, short := recall(again)
			t.Logf("measure %d, %s: effort %d, tried in %v, recall %.3f and then %.3f, p50 %v and then %v", m, name, g.effort,
				tried, before, after, short, long)
			if after < 0.95 || (name == "in clusters") != (g.effort == 1) {
				t.Errorf("measure %d, %s: recall %.3f with an effort of %d", m, name, after, g.effort)
			}
		}
	}
	failed := errors.New("ended")
	if err := newClustered(4).graph(tried * triedWidth).Try(func() error { return failed }); err != failed {
		t.Errorf("a step that fails: %v", err)
	}
}

// A graph of the version before has no effort.
func TestUntried(t *testing.T) {
	c := newClustered(4)
	bytes := c.graph(50).Append(nil)
	bytes[0] = untriedVersion
	g, err := Decode(slices.Delete(bytes, 14, 15))
	if err != nil || g.effort != 1 || len(g.Search(c.next(), 5)) != 5 {
		t.Errorf("got %v", err)
	}
}

// A graph stays what it is while others are made from it.
func TestBuilderCopies(t *testing.T) {
	c := newClustered(8)
	b := NewBuilder(New(Cosine, 8))
	for i := range 300 {
		b.Add([]byte{byte(i)}, c.next())
	}
	g := b.Graph()
	before := g.Append(nil)
	next := NewBuilder(g)
	next.Kill(3)
	for i := range 300 {
		next.Add([]byte{byte(i), 1}, c.next())
	}
	if !bytes.Equal(g.Append(nil), before) {
		t.Error("it has changed")
	}
	if n := next.Graph().Len(); n != 600 {
		t.Errorf("the next one has %d nodes", n)
	}
}

// Damaged bytes are an error or another graph, never a panic.
func TestDamagedGraph(t *testing.T) {
	c := newClustered(4)
	whole := c.graph(50).Append(nil)
	for n := range len(whole) {
		if _, err := Decode(whole[:n]); err == nil {
			t.Fatalf("%d of %d bytes are taken for a graph", n, len(whole))
		}
		damaged := slices.Clone(whole)
		damaged[n] ^= 0xFF
		if g, err := Decode(damaged); err == nil {
			g.Search(c.next(), 20)
		}
	}
}
