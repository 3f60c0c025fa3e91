package exec

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/store"
)

// list has the elements of a list column for a statement that needs them, with the changes of the statement so far.
type list struct {
	column *schema.Column
	elems  []element
}

// element is one element of a list.
type element struct {
	place, value []byte
	ts           int64
}

// elementSize is how much memory an element takes besides its bytes.
const elementSize = 56

// list is the list of a column; nil: the statement does not read it.
func (t *target) list(c *schema.Column) *list {
	for _, l := range t.lists {
		if l.column == c {
			return l
		}
	}
	return nil
}

// readLists reads the lists that assignments depend on. It does not see writes of the same batch.
func (w *writing) readLists(ctx context.Context, sets []planner.SetColumn) error {
	w.target.lists = nil
	for i := range sets {
		c := sets[i].Column
		if !sets[i].ReadsList() || w.target.list(c) != nil {
			continue
		}
		l := &list{column: c}
		if err := w.readList(ctx, l); err != nil {
			return err
		}
		w.target.lists = append(w.target.lists, l)
	}
	return nil
}

// readList reads one list of the row.
func (w *writing) readList(ctx context.Context, l *list) error {
	t := &w.target
	read := store.Read{
		Table: t.plan.Table, Keys: [][]byte{t.key}, Slices: []store.Slice{}, Now: w.x.Now, Meta: true, Turn: w.turn(),
	}
	if !t.static {
		read.Slices = append(read.Slices, store.Slice{Start: t.row, End: t.row, StartInclusive: true, EndInclusive: true})
	}
	reads := w.e.store.Read
	if w.stored != nil {
		reads = w.stored.snapshot.Read
	}
	return reads(ctx, &read, func(row *store.Row) (bool, error) {
		if row.Static != t.static {
			return true, nil
		}
		return false, w.keepList(l, row.Meta[l.column.Index].Parts, row.Values[l.column.Index])
	})
}

// placeSize is the length of an element's place.
const placeSize = 16

// keepList copies the elements of a list that was read.
func (w *writing) keepList(l *list, parts []store.PartMeta, value []byte) error {
	n := len(parts)
	if err := w.hold(n*(placeSize+elementSize) + len(value)); err != nil {
		return err
	}
	value = bytes.Clone(value)
	places := make([]byte, 0, n*placeSize)
	l.elems = make([]element, 0, n)
	for e := range types.Elements(value) {
		at := len(places)
		places = append(places, parts[0].Name...)
		l.elems = append(l.elems, element{places[at:len(places):len(places)], e, parts[0].Timestamp})
		parts = parts[1:]
	}
	return nil
}

// all are the elements; a nil list has none.
func (l *list) all() []element {
	if l == nil {
		return nil
	}
	return l.elems
}

// put sets, adds or removes the element at a place, unless the one there is newer.
func (l *list) put(place, value []byte, ts int64) {
	i, found := slices.BinarySearchFunc(l.elems, place, func(e element, p []byte) int { return bytes.Compare(e.place, p) })
	switch {
	case found && l.elems[i].ts > ts:
	case found && value == nil:
		l.elems = slices.Delete(l.elems, i, i+1)
	case found:
		l.elems[i] = element{l.elems[i].place, value, ts}
	case value != nil:
		l.elems = slices.Insert(l.elems, i, element{bytes.Clone(place), value, ts})
	}
}

// clear removes elements that were written at ts or before.
func (l *list) clear(ts int64) {
	l.elems = slices.DeleteFunc(l.elems, func(e element) bool { return e.ts <= ts })
}

// setAt writes the element at an index.
func (w *writing) setAt(s *planner.SetColumn, index types.Value) error {
	value, err := s.Value.Eval(&w.x)
	if err != nil {
		return err
	}
	deletes := w.target.plan.Verb == planner.Delete
	switch {
	case index.Unset && deletes:
		return nil
	case index.Unset:
		return cqlerr.Invalidf("Invalid unset value for list index")
	case len(index.Bytes) != 4:
		return cqlerr.Invalidf("Invalid null value for list index")
	}
	elems := w.target.list(s.Column).all()
	i := int(int32(binary.BigEndian.Uint32(index.Bytes)))
	switch {
	case len(elems) == 0 && deletes:
		return cqlerr.Invalidf("Attempted to delete an element from a list which is null")
	case len(elems) == 0:
		return cqlerr.Invalidf("Attempted to set an element on a list which is null")
	case i < 0 || i >= len(elems):
		return cqlerr.Invalidf("List index %d out of bound, list has size %d", i, len(elems))
	}
	if value.Unset {
		return nil
	}
	return w.put(s.Column, elems[i].place, value.Bytes)
}
