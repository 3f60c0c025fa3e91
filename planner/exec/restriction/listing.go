package restriction

import (
	"math"
	"slices"
	"sort"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// Listing has the values of a choice, perhaps millions. The values of a bound list stay in its bytes, and the listing
// has the places where they begin.
type Listing struct {
	cols   []*schema.Column
	points []Point

	bytes  []byte   // of a bound list; nil: the values are points
	starts []uint32 // where its elements begin
	tuples bool     // its elements are tuples, with a value for each column
}

// PointSize is about how much memory a point, a partition key or a range takes.
const PointSize = 128

// minHeld is the smallest number of bytes that an execution is charged for.
const minHeld = 64 << 10

// Ordering compares two values of a column.
type Ordering = func(*schema.Column, []byte, []byte) int

// NewListing evaluates a choice.
func NewListing(x *expr.Context, c *where.Choice) (*Listing, error) {
	if c.List != nil {
		return NewListListing(x, c, RefuseNull)
	}
	points, err := Points(x, c)
	if err != nil {
		return nil, err
	}
	return NewPointListing(x, c.Columns, points)
}

// NewPointListing makes a listing of points.
func NewPointListing(x *expr.Context, cols []*schema.Column, points []Point) (*Listing, error) {
	l := &Listing{cols: cols, points: points}
	return l, hold(x, PointSize*len(points))
}

// NewListListing makes a listing of the list that is bound to IN ?. It leaves out null where onNull has no error.
func NewListListing(x *expr.Context, c *where.Choice, onNull func([]*schema.Column) error) (*Listing, error) {
	l := &Listing{cols: c.Columns}
	return l, l.fromList(x, c, onNull)
}

// fromList takes the values of the list that is bound to IN ?.
func (l *Listing) fromList(x *expr.Context, c *where.Choice, onNull func([]*schema.Column) error) error {
	v, err := listValue(x, c)
	if err != nil {
		return err
	}
	l.tuples = isTupleOf(c.List.Type().(*types.List).Elem, c.Columns)
	if err := hold(x, 4*types.DecodeCount(v)); err != nil {
		return err
	}
	l.bytes, l.starts = v, types.ElementStarts(v)
	kept := l.starts[:0]
	for i, at := range l.starts {
		if i%1024 == 1023 {
			if err := Step(x); err != nil {
				return err
			}
		}
		b := types.ElementAt(v, at)
		null := b == nil
		if l.tuples {
			isNull := func(f []byte) bool { return f == nil }
			null = null || slices.ContainsFunc(types.TupleFields(b, len(c.Columns)), isNull)
		}
		if !null {
			kept = append(kept, at)
		} else if err := onNull(c.Columns); err != nil {
			return err
		}
	}
	l.starts = kept
	return nil
}

// Columns are the columns that the values are for.
func (l *Listing) Columns() []*schema.Column { return l.cols }

// Len is the number of points.
func (l *Listing) Len() int {
	if l.bytes != nil {
		return len(l.starts)
	}
	return len(l.points)
}

// Append appends the values of the i-th point.
func (l *Listing) Append(dst Point, i int) Point {
	if l.bytes == nil {
		return append(dst, l.points[i]...)
	}
	return l.appendAt(dst, l.starts[i])
}

// appendAt appends the values of the element that begins at start.
func (l *Listing) appendAt(dst Point, start uint32) Point {
	b := types.ElementAt(l.bytes, start)
	if !l.tuples {
		return append(dst, b)
	}
	return append(dst, types.TupleFields(b, len(l.cols))...)
}

// Sort puts the points in order and drops repeated ones: of equal points the first stays.
func (l *Listing) Sort(x *expr.Context, order Ordering) error {
	if l.bytes == nil {
		compare := func(a, b Point) int { return comparePoints(l.cols, order, a, b) }
		err := SortStably(x, l.points, compare)
		l.points = slices.CompactFunc(l.points, func(a, b Point) bool { return compare(a, b) == 0 })
		return err
	}
	var first, second Point
	compare := func(a, b uint32) int {
		first, second = l.appendAt(first[:0], a), l.appendAt(second[:0], b)
		return comparePoints(l.cols, order, first, second)
	}
	err := SortPlaces(x, l.starts, compare)
	l.starts = slices.CompactFunc(l.starts, func(a, b uint32) bool { return compare(a, b) == 0 })
	return err
}

func comparePoints(cols []*schema.Column, order Ordering, a, b Point) int {
	for i, c := range cols {
		if o := order(c, a[i], b[i]); o != 0 {
			return o
		}
	}
	return 0
}

// Find returns the index of a point in a sorted listing, and whether it is there.
func (l *Listing) Find(values Point, order Ordering) (int, bool) {
	var room [4][]byte
	at := room[:0]
	return sort.Find(l.Len(), func(i int) int {
		at = l.Append(at[:0], i)
		return comparePoints(l.cols, order, values, at)
	})
}

// longest is the largest number of bytes in one point.
func (l *Listing) longest() (longest int) {
	var p Point
	for i := range l.Len() {
		p = l.Append(p[:0], i)
		n := 0
		for _, v := range p {
			n += len(v)
		}
		longest = max(longest, n)
	}
	return longest
}

// hold charges the execution for n bytes, if they are many.
func hold(x *expr.Context, n int) error {
	if n < minHeld || x.Hold == nil {
		return nil
	}
	return x.Hold(n)
}

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
