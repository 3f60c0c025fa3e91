package restriction

import (
	"math"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// MaxListed is how many keys, ranges or points are made at once. Where there are more, each is made when it is read.
const MaxListed = 4096

// product has every combination of the values of choices, in the order of the columns and without duplicates.
type product struct {
	cols  []*schema.Column
	lists []*Listing // the values of each choice, in order
	order Ordering
}

// newProduct evaluates choices, up to the first IN without values.
func newProduct(x *expr.Context, choices []*where.Choice, order Ordering) (*product, error) {
	p := &product{order: order}
	for _, c := range choices {
		l, err := NewListing(x, c)
		if err != nil {
			return nil, err
		}
		if err := l.Sort(x, order); err != nil {
			return nil, err
		}
		p.cols = append(p.cols, c.Columns...)
		p.lists = append(p.lists, l)
		if l.Len() == 0 {
			break
		}
	}
	return p, nil
}

// len is the number of combinations, or the largest int if there are more.
func (p *product) len() int {
	n := 1
	for _, list := range p.lists {
		if list.Len() > 0 && n > math.MaxInt/list.Len() {
			return math.MaxInt
		}
		n *= list.Len()
	}
	return n
}

// append appends the values of the i-th combination.
func (p *product) append(dst Point, i int) Point {
	for _, list := range p.lists {
		for range list.cols {
			dst = append(dst, nil)
		}
	}
	end := len(dst)
	for at := len(p.lists) - 1; at >= 0; at-- {
		list := p.lists[at]
		end -= len(list.cols)
		list.Append(dst[:end], i%list.Len())
		i /= list.Len()
	}
	return dst
}

// find returns the index of a combination; not ok: there is no such combination.
func (p *product) find(values Point) (i int, ok bool) {
	first := 0
	for _, list := range p.lists {
		last := first + len(list.cols)
		at, found := list.Find(values[first:last], p.order)
		if !found {
			return 0, false
		}
		i, first = i*list.Len()+at, last
	}
	return i, true
}

// longest is the largest number of bytes in one combination.
func (p *product) longest() int {
	sum := 0
	for _, list := range p.lists {
		sum += list.longest()
	}
	return sum
}
