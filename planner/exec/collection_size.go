package exec

import (
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/store"
)

// manyElements is the number of elements from which on memory is taken for all of them at once.
const manyElements = 1 << 10

// leastElement is the least number of bytes that a stored element takes besides its name and value.
const leastElement = 4

// checkSize refuses a write that is certainly too large, with more bytes to come.
func (w *writing) checkSize(more int) error { return w.e.store.Check(w.mutations, w.bytes, more) }

// hold charges the turn for n bytes, if they are many.
func (w *writing) hold(n int) error {
	if n < heldStep {
		return nil
	}
	return w.turn().Hold(int64(n))
}

// expect refuses a collection that is too large to be written, and makes room for its elements. With written it counts
// their values too; otherwise the elements are deleted.
func (w *writing) expect(c *schema.Column, value []byte, written bool) error {
	n := types.DecodeCount(value)
	if n < manyElements {
		return nil
	}
	names, values := 0, 0
	least := 0 // bytes of the names
	switch t := c.Type.(type) {
	case *types.List:
		names, least = n*placeSize, n*placeSize
		values = len(value) - 4 - 4*n
	case *types.Set:
		names = len(value) - 4 - 4*n
		if t.Elem.FixedLength() > 0 {
			least = names
		}
	case *types.Map:
		if !written {
			names = len(value) - 4 - 4*n
			break
		}
		for k, v := range types.Entries(value) {
			names += len(k)
			values += len(v)
		}
		if t.Key.FixedLength() > 0 {
			least = names
		}
	default: // a user type has few fields
		return nil
	}
	if w.settles(c) {
		if err := w.checkSize(n*leastElement + least + values); err != nil {
			return err
		}
	}
	names += names/8 + 2*n
	if err := w.hold(n*store.CellSize + names); err != nil {
		return err
	}
	w.target.to.Reserve(n, names)
	return nil
}

// settles reports whether only one assignment writes to a column: several may write to the same elements.
func (w *writing) settles(c *schema.Column) bool {
	n := 0
	for _, sets := range [...][]planner.SetColumn{w.target.plan.Sets, w.target.plan.Statics} {
		for i := range sets {
			if sets[i].Column == c {
				n++
			}
		}
	}
	return n == 1
}
