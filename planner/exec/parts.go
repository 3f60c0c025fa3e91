package exec

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/store"
)

// parts writes what an assignment changes of a column that is not frozen.
func (w *writing) parts(s *planner.SetColumn) error {
	switch s.Change {
	case planner.SetPart:
		return w.setPart(s)
	case planner.SetField:
		v, err := s.Value.Eval(&w.x)
		if err == nil && !v.Unset {
			w.put(s.Column, store.AppendField(nil, s.Field), v.Bytes)
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
		w.takeOut(s.Column, v.Bytes)
		return nil
	case planner.Replace:
		w.clear(s.Column)
	}
	return w.putAll(s.Column, v.Bytes)
}

// checkUnset refuses to append nothing to a list, where Cassandra fails. Elsewhere it leaves the column alone.
func checkUnset(s *planner.SetColumn) error {
	if _, isList := s.Column.Type.(*types.List); isList && s.Change == planner.Add {
		return cqlerr.Invalidf("Invalid unset value for column %s", s.Column.Name)
	}
	return nil
}

// put writes one part; a nil value deletes it.
func (w *writing) put(c *schema.Column, name, value []byte) {
	t := &w.target
	expiry := t.expiry
	if value == nil {
		expiry = store.Expiry{}
	}
	t.to.SetPart(c, name, value, t.ts, expiry)
	w.checkIndexed(t.plan.Table, c, name, value)
	w.size.part(name, value)
	if l := t.list(c); l != nil {
		l.put(name, value, t.ts)
	}
}

// clear deletes all parts: those that the same write sets stay, unless it deletes the column.
func (w *writing) clear(c *schema.Column) {
	ts := w.target.ts
	if w.target.plan.Verb != planner.Delete {
		ts--
	}
	w.target.to.Clear(c, ts)
	w.size.clear()
	if l := w.target.list(c); l != nil {
		l.clear(ts)
	}
}

// putAll writes the parts that a value consists of.
func (w *writing) putAll(c *schema.Column, value []byte) error {
	switch t := c.Type.(type) {
	case *types.List:
		for e := range types.Elements(value) {
			if e == nil {
				return errNullElement()
			}
			w.put(c, w.e.ids.place(false), e)
		}
	case *types.Set:
		for e := range types.Elements(value) {
			w.put(c, e, []byte{})
		}
	case *types.Map:
		for k, v := range types.Entries(value) {
			w.put(c, k, v)
		}
	case *types.UserType:
		if value == nil {
			return nil
		}
		for i, f := range types.TupleFields(value, len(t.Fields)) {
			if f != nil {
				w.put(c, store.AppendField(nil, i), f)
			}
		}
	}
	return nil
}

func errNullElement() error { return cqlerr.Invalidf("null is not supported inside collections") }

// prepend writes elements in front of all others of a list.
func (w *writing) prepend(c *schema.Column, value []byte) error {
	var elems [][]byte
	for e := range types.Elements(value) {
		if e == nil {
			return errNullElement()
		}
		elems = append(elems, e)
	}
	for i := len(elems) - 1; i >= 0; i-- {
		w.put(c, w.e.ids.place(true), elems[i])
	}
	return nil
}

// takeOut deletes the elements of a set, the keys of a map, or all elements of a list that equal one of those given.
func (w *writing) takeOut(c *schema.Column, value []byte) {
	if _, isList := c.Type.(*types.List); isList {
		unwanted := map[string]bool{}
		for e := range types.Elements(value) {
			unwanted[string(e)] = true
		}
		for _, e := range w.target.list(c).all() {
			if unwanted[string(e.value)] {
				w.put(c, e.place, nil)
			}
		}
		return
	}
	for e := range types.Elements(value) {
		w.put(c, e, nil)
	}
}

// setPart writes one element.
func (w *writing) setPart(s *planner.SetColumn) error {
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
	w.put(s.Column, part.Bytes, value.Bytes)
	return nil
}
