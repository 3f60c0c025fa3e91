package exec

import (
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/store"
)

// manyParts is from how many parts on memory is taken for them at once.
const manyParts = 1 << 10

// leastPart is how many bytes a stored part takes beside its name and value, at least.
const leastPart = 4

// checkSize refuses a write that is certainly too large, of which there is more to come.
func (w *writing) checkSize(more int) error { return w.e.store.Check(w.mutations, w.bytes, more) }

// hold takes memory for n bytes, if they are many.
func (w *writing) hold(n int) error {
	if n < heldStep {
		return nil
	}
	return w.options.Turn.Hold(int64(n))
}

// expect refuses a collection whose parts would be too large a write, and makes room for those that are not. Its values are
// written too, unless they are deleted.
func (w *writing) expect(c *schema.Column, value []byte, written bool) error {
	n := types.DecodeCount(value)
	if n < manyParts {
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
	default: // of a user type: it has few fields
		return nil
	}
	if w.settles(c) {
		if err := w.checkSize(n*leastPart + least + values); err != nil {
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

// settles reports whether one assignment alone says what becomes of a column's parts: several may write to the same one.
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
