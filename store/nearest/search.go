package nearest

import (
	"cmp"
	"slices"
	"sync"
)

// search is the memory of a search on one level.
type search struct {
	seen  []uint32 // of each node: the round in which it was seen last
	round uint32
	next  []Found // nodes to go on from: a heap with the nearest first
	best  []Found // a heap with the farthest first

	compared int // vectors

	fresh      []int32 // nodes that a node leads to and that were not seen before
	prefetched float32 // keeps the compiler from removing the reads of prefetch
}

var searches = sync.Pool{New: func() any { return new(search) }}

// level returns the wide nearest nodes that can be reached on a level, the nearest first. They are valid until the
// next call.
func (s *search) level(g *Graph, vector []float32, from Found, level, wide int) []Found {
	if n := g.Len(); len(s.seen) < n {
		s.seen, s.round = make([]uint32, n+n/4), 0
	}
	if s.round++; s.round == 0 {
		clear(s.seen)
		s.round = 1
	}
	s.seen[from.Node] = s.round
	s.compared = 0
	s.next, s.best = append(s.next[:0], from), append(s.best[:0], from)
	for len(s.next) > 0 {
		at := s.next[0]
		if len(s.best) >= wide && at.Distance > s.best[0].Distance {
			break
		}
		s.next = pop(s.next, nearer)
		s.fresh = s.fresh[:0]
		for _, n := range g.links(at.Node, level) {
			if s.seen[n] != s.round {
				s.seen[n] = s.round
				s.fresh = append(s.fresh, n)
			}
		}
		s.prefetched += g.prefetch(s.fresh)
		if len(s.next) > 0 {
			s.prefetched += float32(g.slots(s.next[0].Node, level)[0])
		}
		s.compared += len(s.fresh)
		for _, n := range s.fresh {
			f := Found{n, g.measure.distance(vector, g.vector(n))}
			if len(s.best) >= wide {
				if f.Distance >= s.best[0].Distance {
					continue
				}
				s.best = pop(s.best, farther)
			}
			s.best = push(s.best, f, farther)
			s.next = push(s.next, f, nearer)
		}
	}
	slices.SortFunc(s.best, compareFound)
	return s.best
}

func compareFound(a, b Found) int {
	switch {
	case a.Distance < b.Distance:
		return -1
	case a.Distance > b.Distance:
		return 1
	}
	return cmp.Compare(a.Node, b.Node)
}

func nearer(a, b Found) bool { return a.Distance < b.Distance }

func farther(a, b Found) bool { return a.Distance > b.Distance }

// push adds to a heap whose first element is before all others.
func push(heap []Found, f Found, before func(a, b Found) bool) []Found {
	heap = append(heap, f)
	i := len(heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !before(f, heap[parent]) {
			break
		}
		heap[i] = heap[parent]
		i = parent
	}
	heap[i] = f
	return heap
}

// pop removes the first element of a heap.
func pop(heap []Found, before func(a, b Found) bool) []Found {
	last := len(heap) - 1
	f := heap[last]
	heap = heap[:last]
	if last == 0 {
		return heap
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && before(heap[child+1], heap[child]) {
			child++
		}
		if !before(heap[child], f) {
			break
		}
		heap[i] = heap[child]
		i = child
	}
	heap[i] = f
	return heap
}
