package exec

import (
	"slices"
	"sort"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/planner/where"
)

// listing is the values of a choice, of which there may be millions. Those of a list stay in its bytes: the listing knows
// where they begin.
type listing struct {
	cols   []*schema.Column
	points []point

	bytes  []byte // the list; nil: the values are points
	starts []uint32
	tuples bool // its elements are tuples of values
}

// listedSize is about how much memory a value takes that is not of a list.
const listedSize = 128

// ordering compares two values of a column.
type ordering = func(*schema.Column, []byte, []byte) int

// newListing evaluates a choice.
func newListing(x *expr.Context, c *where.Choice) (*listing, error) {
	l := &listing{cols: c.Columns}
	if c.List != nil {
		return l, l.fromList(x, c, refuseNull)
	}
	var err error
	l.points, err = points(x, c)
	if err != nil {
		return nil, err
	}
	return l, holdBytes(x, l.size())
}

// refuseNull is what a key says of a null in a list.
func refuseNull(cols []*schema.Column) error {
	if len(cols) == 1 {
		return errNullValue(cols[0])
	}
	return cqlerr.Invalidf("Invalid null value in condition for columns: [%s]", strings.ReplaceAll(columnNames(cols), ",", ", "))
}

// fromList takes the values of IN ?. Null ones are left out if onNull returns no error.
func (l *listing) fromList(x *expr.Context, c *where.Choice, onNull func([]*schema.Column) error) error {
	v, err := listValue(x, c)
	if err != nil {
		return err
	}
	l.tuples = isTupleOf(c.List.Type().(*types.List).Elem, c.Columns)
	if err := holdBytes(x, 4*types.DecodeCount(v)); err != nil {
		return err
	}
	l.bytes, l.starts = v, types.ElementStarts(v)
	kept := l.starts[:0]
	for i, at := range l.starts {
		if i%1024 == 1023 {
			if err := step(x); err != nil {
				return err
			}
		}
		b := types.ElementAt(v, at)
		null := b == nil
		if l.tuples {
			null = null || slices.ContainsFunc(types.TupleFields(b, len(c.Columns)), func(f []byte) bool { return f == nil })
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

func (l *listing) len() int {
	if l.bytes != nil {
		return len(l.starts)
	}
	return len(l.points)
}

// size is about how much memory the listing takes.
func (l *listing) size() int { return 4*len(l.starts) + listedSize*len(l.points) }

// append appends the values at a place.
func (l *listing) append(dst point, i int) point {
	if l.bytes == nil {
		return append(dst, l.points[i]...)
	}
	return l.appendAt(dst, l.starts[i])
}

// appendAt appends the values of the element that begins there.
func (l *listing) appendAt(dst point, start uint32) point {
	b := types.ElementAt(l.bytes, start)
	if !l.tuples {
		return append(dst, b)
	}
	return append(dst, types.TupleFields(b, len(l.cols))...)
}

// sort puts the values in order, each once: of equal ones the first.
func (l *listing) sort(x *expr.Context, order ordering) error {
	if l.bytes == nil {
		compare := func(a, b point) int { return comparePoints(l.cols, order, a, b) }
		err := sortStably(x, l.points, compare)
		l.points = slices.CompactFunc(l.points, func(a, b point) bool { return compare(a, b) == 0 })
		return err
	}
	var first, second point
	compare := func(a, b uint32) int {
		first, second = l.appendAt(first[:0], a), l.appendAt(second[:0], b)
		return comparePoints(l.cols, order, first, second)
	}
	err := sortSteps(x, l.starts, compare)
	l.starts = slices.CompactFunc(l.starts, func(a, b uint32) bool { return compare(a, b) == 0 })
	return err
}

// sortSteps sorts places stably, and lets others run now and then.
func sortSteps(x *expr.Context, places []uint32, compare func(a, b uint32) int) error {
	var err error
	n := 0
	slices.SortFunc(places, func(a, b uint32) int {
		if n++; n%256 == 0 && err == nil {
			err = step(x)
		}
		if err != nil {
			return 0 // the order does not matter any more
		}
		if o := compare(a, b); o != 0 {
			return o
		}
		return int(a) - int(b)
	})
	return err
}

func comparePoints(cols []*schema.Column, order ordering, a, b point) int {
	for i, c := range cols {
		if o := order(c, a[i], b[i]); o != 0 {
			return o
		}
	}
	return 0
}

// find is where such values are in a listing that is sorted.
func (l *listing) find(values point, order ordering) (int, bool) {
	var room [4][]byte
	at := room[:0]
	return sort.Find(l.len(), func(i int) int {
		at = l.append(at[:0], i)
		return comparePoints(l.cols, order, values, at)
	})
}

// longest is the greatest number of bytes that the values at one place have.
func (l *listing) longest() (most int) {
	var p point
	for i := range l.len() {
		p = l.append(p[:0], i)
		most = max(most, length(p))
	}
	return most
}

// holdBytes takes memory for n bytes, if they are many.
func holdBytes(x *expr.Context, n int) error {
	if n < heldStep || x.Hold == nil {
		return nil
	}
	return x.Hold(n)
}
