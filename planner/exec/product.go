package exec

import (
	"math"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// maxListed is how many combinations of values are made at once. Of more each is made when it is read.
const maxListed = 4096

// product is every combination of the values of choices, in the columns' order and without duplicates.
type product struct {
	cols  []*schema.Column
	lists []*listing // of each choice the values in order
	order func(*schema.Column, []byte, []byte) int
}

// newProduct evaluates choices; order compares two values of a column. Behind an IN without values no choice is evaluated.
func newProduct(x *expr.Context, choices []*where.Choice, order func(*schema.Column, []byte, []byte) int) (*product, error) {
	p := &product{order: order}
	for _, c := range choices {
		l, err := newListing(x, c)
		if err != nil {
			return nil, err
		}
		if err := l.sort(x, order); err != nil {
			return nil, err
		}
		p.cols = append(p.cols, c.Columns...)
		p.lists = append(p.lists, l)
		if l.len() == 0 {
			break
		}
	}
	return p, nil
}

// len is how many combinations there are, or the greatest int if there are more.
func (p *product) len() int {
	n := 1
	for _, list := range p.lists {
		if list.len() > 0 && n > math.MaxInt/list.len() {
			return math.MaxInt
		}
		n *= list.len()
	}
	return n
}

// append appends the values of one combination.
func (p *product) append(dst point, i int) point {
	for _, list := range p.lists {
		for range list.cols {
			dst = append(dst, nil)
		}
	}
	end := len(dst)
	for at := len(p.lists) - 1; at >= 0; at-- {
		list := p.lists[at]
		end -= len(list.cols)
		list.append(dst[:end], i%list.len())
		i /= list.len()
	}
	return dst
}

// find is which combination has such values; not ok: none.
func (p *product) find(values point) (i int, ok bool) {
	first := 0
	for _, list := range p.lists {
		last := first + len(list.cols)
		at, found := list.find(values[first:last], p.order)
		if !found {
			return 0, false
		}
		i, first = i*list.len()+at, last
	}
	return i, true
}

// longest is the greatest number of bytes that the values of a combination have.
func (p *product) longest() int {
	sum := 0
	for _, list := range p.lists {
		sum += list.longest()
	}
	return sum
}

// holdListed takes memory for keys and ranges that are many.
func (r *reading) holdListed() error {
	return r.kept.add(r, listedSize*(len(r.keys)+len(r.slices)))
}

// errTooManyRows refuses a write before its rows take memory.
func errTooManyRows(most int) error {
	return cqlerr.Invalidf("One write of cqld changes up to %d rows or ranges of rows, and this is of more", most)
}
