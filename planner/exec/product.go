package exec

import (
	"math"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/expr"
)

// maxListed is how many combinations of values are made at once. Of more each is made when it is read.
const maxListed = 4096

// product is every combination of the values of choices, in the columns' order and without duplicates.
type product struct {
	cols  []*schema.Column
	lists [][]point // of each choice the values in order
	order func(*schema.Column, []byte, []byte) int
}

// newProduct evaluates choices; order compares two values of a column. Behind an IN without values no choice is evaluated.
func newProduct(x *expr.Context, choices []*planner.Choice, order func(*schema.Column, []byte, []byte) int) (*product, error) {
	p := &product{order: order}
	for _, c := range choices {
		ps, err := points(x, c)
		if err != nil {
			return nil, err
		}
		if len(ps) > 1 {
			compare := func(a, b point) int { return p.compare(c.Columns, a, b) }
			slices.SortStableFunc(ps, compare)
			ps = slices.CompactFunc(ps, func(a, b point) bool { return compare(a, b) == 0 })
		}
		p.cols = append(p.cols, c.Columns...)
		p.lists = append(p.lists, ps)
		if len(ps) == 0 {
			break
		}
	}
	return p, nil
}

func (p *product) compare(cols []*schema.Column, a, b point) int {
	for i, c := range cols {
		if o := p.order(c, a[i], b[i]); o != 0 {
			return o
		}
	}
	return 0
}

// len is how many combinations there are, or the greatest int if there are more.
func (p *product) len() int {
	n := 1
	for _, list := range p.lists {
		if len(list) > 0 && n > math.MaxInt/len(list) {
			return math.MaxInt
		}
		n *= len(list)
	}
	return n
}

// append appends the values of one combination.
func (p *product) append(dst point, i int) point {
	for _, list := range p.lists {
		for range list[0] {
			dst = append(dst, nil)
		}
	}
	end := len(dst)
	for at := len(p.lists) - 1; at >= 0; at-- {
		list := p.lists[at]
		end -= len(list[0])
		copy(dst[end:], list[i%len(list)])
		i /= len(list)
	}
	return dst
}

// find is which combination has such values; not ok: none.
func (p *product) find(values point) (i int, ok bool) {
	first := 0
	for _, list := range p.lists {
		cols := p.cols[first : first+len(list[0])]
		at, found := slices.BinarySearchFunc(list, values[first:first+len(cols)], func(a, b point) int {
			return p.compare(cols, a, b)
		})
		if !found {
			return 0, false
		}
		i, first = i*len(list)+at, first+len(cols)
	}
	return i, true
}

// longest is the greatest number of bytes that the values of a combination have.
func (p *product) longest() int {
	sum := 0
	for _, list := range p.lists {
		most := 0
		for _, values := range list {
			most = max(most, length(values))
		}
		sum += most
	}
	return sum
}

// listed is how many values the lists have.
func (p *product) listed() (n int) {
	for _, list := range p.lists {
		n += len(list)
	}
	return n
}

// holdListed takes memory for keys and ranges that are many.
func (r *reading) holdListed() error {
	n := len(r.keys) + len(r.slices)
	if r.rest != nil {
		n += r.rest.product.listed()
	}
	if many, ok := r.read.Ranges.(*ranges); ok {
		n += many.prefixes.listed()
	}
	return r.kept.add(r, 128*n)
}

// errTooManyRows refuses a write before its rows take memory.
func errTooManyRows(most int) error {
	return cqlerr.Invalidf("One write of cqld changes up to %d rows or ranges of rows, and this is of more", most)
}
