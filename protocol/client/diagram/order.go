package diagram

import (
	"cmp"
	"slices"
)

// chain returns the items that an arrow connects, from left to right, or nil if it stays in one column.
func (a *arrow) chain(of map[*box]*item) []*item {
	left, right := of[a.from], of[a.to]
	switch {
	case a.from.column == a.to.column:
		return nil
	case a.from.column > a.to.column:
		left, right = right, left
	}
	return append(append([]*item{left}, a.lanes...), right)
}

// orderItems orders the items of each column so that few arrows cross. It repeatedly moves each item to the average
// position of its neighbours in the column before, then in the column after, and keeps the best order.
func (l *layout) orderItems() {
	of := map[*box]*item{}
	for _, c := range l.columns {
		for _, in := range c {
			slices.SortStableFunc(in, func(a, b *item) int { return cmp.Compare(a.at, b.at) })
			for _, one := range in {
				if one.box != nil {
					of[one.box] = one
				}
			}
		}
	}
	left, right := map[*item][]*item{}, map[*item][]*item{}
	var links [][2]*item
	for _, a := range l.arrows {
		chain := a.chain(of)
		for i := 1; i < len(chain); i++ {
			left[chain[i]] = append(left[chain[i]], chain[i-1])
			right[chain[i-1]] = append(right[chain[i-1]], chain[i])
			links = append(links, [2]*item{chain[i-1], chain[i]})
		}
	}
	l.number()
	best := l.copyItems()
	fewest := crossings(links)
	for sweep := 0; sweep < 8 && fewest > 0; sweep++ {
		for i := range l.columns {
			c, neighbours := i, left
			if sweep%2 == 1 {
				c, neighbours = len(l.columns)-1-i, right
			}
			for _, in := range l.columns[c] {
				for _, one := range in {
					if near := neighbours[one]; len(near) > 0 {
						sum := 0.0
						for _, n := range near {
							sum += n.at
						}
						one.at = sum / float64(len(near))
					}
				}
				slices.SortStableFunc(in, func(a, b *item) int { return cmp.Compare(a.at, b.at) })
			}
			l.number()
		}
		if n := crossings(links); n < fewest {
			fewest, best = n, l.copyItems()
		}
	}
	for i := range l.columns {
		l.columns[i] = best[i]
	}
	l.number()
}

// number sets the positions of items in their columns.
func (l *layout) number() {
	for _, c := range l.columns {
		n := 0.0
		for _, in := range c {
			for _, one := range in {
				one.at, n = n, n+1
			}
		}
	}
}

// copyItems copies the columns.
func (l *layout) copyItems() (all []column) {
	for _, c := range l.columns {
		var frames column
		for _, in := range c {
			frames = append(frames, slices.Clone(in))
		}
		all = append(all, frames)
	}
	return all
}

// crossings counts the pairs of links that cross.
func crossings(links [][2]*item) (n int) {
	for i, a := range links {
		for _, b := range links[:i] {
			if a[0].column == b[0].column && (a[0].at-b[0].at)*(a[1].at-b[1].at) < 0 {
				n++
			}
		}
	}
	return n
}
