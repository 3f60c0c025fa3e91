package exec

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec/restriction"
	"github.com/cqld/cqld/planner/expr"
	"github.com/cqld/cqld/store"
)

// collection writes an assignment to a collection, or a user type, that is not frozen.
func (w *writing) collection(s *planner.SetColumn) error {
	if err := w.guardList(s); err != nil {
		return err
	}
	switch s.Change {
	case planner.SetPart:
		return w.setElement(s)
	case planner.SetField:
		v, err := s.Value.Eval(&w.x)
		if err == nil && !v.Unset {
			err = w.put(s.Column, store.AppendField(nil, s.Field), v.Bytes)
		}
		return err
	}
	v, err := s.Value.Eval(&w.x)
	if err != nil {
		return err
	}
	if v.Unset {
		return checkUnset(s)
	}
	switch s.Change {
	case planner.Prepend:
		return w.prepend(s.Column, v.Bytes)
	case planner.Remove:
		return w.removeElements(s.Column, v.Bytes)
	case planner.Replace:
		w.clear(s.Column)
	}
	return w.putAll(s.Column, v.Bytes)
}

// checkUnset refuses to append an unset value to a list, where Cassandra fails. Other assignments of unset values
// change nothing.
func checkUnset(s *planner.SetColumn) error {
	if _, isList := s.Column.Type.(*types.List); isList && s.Change == planner.Add {
		return restriction.ErrUnset(s.Column)
	}
	return nil
}

// put writes one element or field under its name; a nil value deletes it.
func (w *writing) put(c *schema.Column, name, value []byte) error {
	if l := w.target.list(c); l != nil {
		l.put(name, value, w.target.ts)
	}
	return w.putElement(c, name, value)
}

// putElement is put for an element that the statement does not read again.
func (w *writing) putElement(c *schema.Column, name, value []byte) error {
	if err := w.guardElement(c, name, value); err != nil {
		return err
	}
	t := &w.target
	expiry := t.expiry
	if value == nil {
		expiry = store.Expiry{}
	}
	t.to.SetPart(c, name, value, t.ts, expiry)
	w.checkIndexed(t.plan.Table, c, name, value)
	if w.elements++; w.elements%64 == 63 {
		if err := restriction.Step(&w.x); err != nil {
			return err
		}
	}
	return w.checkSize(0)
}

// clear deletes all elements. Elements that the same write sets stay, unless it deletes the column.
func (w *writing) clear(c *schema.Column) {
	ts := w.target.ts
	if w.target.plan.Verb != planner.Delete {
		ts--
	}
	w.target.to.Clear(c, ts)
	if l := w.target.list(c); l != nil {
		l.clear(ts)
	}
}

// putAll writes all elements of a value.
func (w *writing) putAll(c *schema.Column, value []byte) error {
	if err := w.reserveElements(c, value, true); err != nil {
		return err
	}
	if err := w.guardItems(c, value); err != nil {
		return err
	}
	switch t := c.Type.(type) {
	case *types.List:
		for e := range types.Elements(value) {
			if e == nil {
				return expr.ErrNullElement()
			}
			if err := w.putPlace(c, false, e); err != nil {
				return err
			}
		}
	case *types.Set:
		for e := range types.Elements(value) {
			if err := w.put(c, e, []byte{}); err != nil {
				return err
			}
		}
	case *types.Map:
		for k, v := range types.Entries(value) {
			if err := w.put(c, k, v); err != nil {
				return err
			}
		}
	case *types.UserType:
		if value == nil {
			return nil
		}
		for i, f := range types.TupleFields(value, len(t.Fields)) {
			if f == nil {
				continue
			}
			if err := w.put(c, store.AppendField(nil, i), f); err != nil {
				return err
			}
		}
	}
	return w.guardCollection(c, value)
}

// putPlace writes an element at the end or the beginning of a list.
func (w *writing) putPlace(c *schema.Column, front bool, value []byte) error {
	if w.e.store.Cluster() == nil {
		w.place = w.e.ids.appendPlace(w.place[:0], front)
		return w.put(c, w.place, value)
	}
	if w.placed == 0 {
		ts, err := w.e.store.TimestampAt(w.began)
		if err != nil {
			return err
		}
		w.placed = ts
	}
	w.place = appendSharedPlace(w.place[:0], w.placed, w.places, front)
	w.places++
	return w.put(c, w.place, value)
}

// prepend writes elements at the beginning of a list, the last one first.
func (w *writing) prepend(c *schema.Column, value []byte) error {
	if err := w.reserveElements(c, value, true); err != nil {
		return err
	}
	for e := range types.Elements(value) {
		if e == nil {
			return expr.ErrNullElement()
		}
	}
	starts := types.ElementStarts(value)
	for _, at := range slices.Backward(starts) {
		if err := w.putPlace(c, true, types.ElementAt(value, at)); err != nil {
			return err
		}
	}
	return nil
}

// removeElements deletes elements of a set, keys of a map, or all elements of a list that equal one of the value's.
func (w *writing) removeElements(c *schema.Column, value []byte) error {
	if _, isList := c.Type.(*types.List); isList {
		return w.removeFromList(c, value)
	}
	if err := w.reserveElements(c, value, false); err != nil {
		return err
	}
	for e := range types.Elements(value) {
		if err := w.put(c, e, nil); err != nil {
			return err
		}
	}
	return nil
}

// removeFromList deletes all elements of a list that equal one of the value's.
func (w *writing) removeFromList(c *schema.Column, value []byte) error {
	l := w.target.list(c)
	if l == nil {
		return nil
	}
	if err := w.hold(4 * types.DecodeCount(value)); err != nil {
		return err
	}
	unwanted := types.ElementStarts(value)
	compare := func(a, b uint32) int { return bytes.Compare(types.ElementAt(value, a), types.ElementAt(value, b)) }
	if err := restriction.SortPlaces(&w.x, unwanted, compare); err != nil {
		return err
	}
	kept := l.elems[:0:0]
	for _, e := range l.elems {
		_, found := slices.BinarySearchFunc(unwanted, e.value, func(at uint32, v []byte) int {
			return bytes.Compare(types.ElementAt(value, at), v)
		})
		if !found {
			kept = append(kept, e)
			continue
		}
		if e.ts > w.target.ts {
			kept = append(kept, e)
		}
		if err := w.putElement(c, e.place, nil); err != nil {
			return err
		}
	}
	l.elems = kept
	return nil
}

// setElement writes the element that an assignment names.
func (w *writing) setElement(s *planner.SetColumn) error {
	part, err := s.Part.Eval(&w.x)
	if err != nil {
		return err
	}
	if _, isList := s.Column.Type.(*types.List); isList {
		return w.setAt(s, part)
	}
	what := "map key"
	if _, isSet := s.Column.Type.(*types.Set); isSet {
		what = "set element"
	}
	value, err := s.Value.Eval(&w.x)
	switch {
	case err != nil:
		return err
	case part.Unset && what == "set element":
		return nil
	case part.Unset:
		return cqlerr.Invalidf("Invalid unset %s", what)
	case part.Bytes == nil:
		return cqlerr.Invalidf("Invalid null %s", what)
	case value.Unset:
		return nil
	}
	return w.put(s.Column, part.Bytes, value.Bytes)
}

// manyElements is the number of elements from which on memory is taken for all of them at once.
const manyElements = 1 << 10

// minElement is the smallest number of bytes that a stored element takes besides its name and value.
const minElement = 4

// checkSize refuses a write that is certainly too large, with more bytes to come.
func (w *writing) checkSize(more int) error { return w.e.store.Check(w.mutations, w.bytes, more) }

// hold charges the turn for n bytes, if they are many.
func (w *writing) hold(n int) error {
	if n < heldStep {
		return nil
	}
	return w.turn().Hold(int64(n))
}

// reserveElements refuses a collection that is too large to be written, and makes room for its elements. With written
// it counts their values too; otherwise the elements are deleted.
func (w *writing) reserveElements(c *schema.Column, value []byte, written bool) error {
	n := types.DecodeCount(value)
	if n < manyElements {
		return nil
	}
	names, values := 0, 0
	minNames := 0 // bytes of the names
	switch t := c.Type.(type) {
	case *types.List:
		names, minNames = n*placeSize, n*placeSize
		values = len(value) - 4 - 4*n
	case *types.Set:
		names = len(value) - 4 - 4*n
		if t.Elem.FixedLength() > 0 {
			minNames = names
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
			minNames = names
		}
	default: // a user type has few fields
		return nil
	}
	if w.isOnlyAssignment(c) {
		if err := w.checkSize(n*minElement + minNames + values); err != nil {
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

// isOnlyAssignment reports whether one assignment only writes to a column: several may write to the same elements.
func (w *writing) isOnlyAssignment(c *schema.Column) bool {
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
