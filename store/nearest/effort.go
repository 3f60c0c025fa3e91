package nearest

import "slices"

// If vectors are clustered, a search finds nearly all of the nearest. If they are not, a search of the same width
// misses half of them. So a graph is tried when it is made, and stores the factor by which its searches are widened.
const (
	tried       = 24   // nodes whose vectors are searched for
	triedWidth  = 128  // of a search
	triedFound  = 10   // the number of nearest nodes that have to be found
	triedEnough = 0.98 // the recall that is enough; it is lower for vectors that are no nodes
	maxEffort   = 32

	// compareAll is the effort of comparing the vectors of all nodes.
	compareAll = 0

	// sequential is how many adjacent vectors are compared in the time of one that a link leads to.
	sequential = 3
)

// Try determines the effort of searches. It calls step periodically, and stops when that fails.
func (g *Graph) Try(step func() error) error {
	g.effort = 1
	if g.Len() < tried*triedWidth {
		return nil
	}
	queries := make([]int32, tried)
	wanted := make([][]Found, tried)
	for i := range queries {
		queries[i] = int32(g.Len() / tried * i)
		if err := step(); err != nil {
			return err
		}
		wanted[i] = g.all(g.vector(queries[i]), triedFound)
	}
	for ; g.effort <= maxEffort; g.effort *= 2 {
		found, wants, compared := 0, 0, 0
		for i, query := range queries {
			if err := step(); err != nil {
				return err
			}
			got, n := g.near(g.vector(query), triedWidth)
			compared += n
			for _, w := range wanted[i] {
				wants++
				if slices.ContainsFunc(got, func(f Found) bool { return f.Node == w.Node }) {
					found++
				}
			}
		}
		if compared/tried > g.Len()/sequential {
			break
		}
		if float64(found) >= triedEnough*float64(wants) {
			return nil
		}
	}
	g.effort = compareAll
	return nil
}

// all returns the wide nearest living nodes, the nearest first, by comparing all.
func (g *Graph) all(vector []float32, wide int) []Found {
	var best []Found
	for n := range int32(g.Len()) {
		if g.dead[n] {
			continue
		}
		f := Found{n, g.measure.distance(vector, g.vector(n))}
		if len(best) == wide {
			if f.Distance >= best[0].Distance {
				continue
			}
			best = pop(best, farther)
		}
		best = push(best, f, farther)
	}
	slices.SortFunc(best, compareFound)
	return best
}

// near returns living nodes near to a vector, the nearest first, and the number of vectors that it compared.
func (g *Graph) near(vector []float32, wide int) (found []Found, compared int) {
	s := searches.Get().(*search)
	defer searches.Put(s)
	at := g.descend(vector, 0)
	found = make([]Found, 0, wide)
	for _, f := range s.level(g, vector, at, 0, wide*g.effort) {
		if len(found) == wide {
			break
		}
		if !g.dead[f.Node] {
			found = append(found, f)
		}
	}
	return found, s.compared
}
