package java

import "slices"

// State is the state of an aggregate while the rows of a group go through its state function. As in Cassandra it stays
// the Java object that the function returned: a map that the function fills is not encoded and decoded for each row.
// A State belongs to one goroutine.
type State struct {
	f     *Function
	value value
	null  bool

	allocated int64 // bytes since the size was measured
	size      int
}

// sizeStep is how many bytes are allocated before the size is measured again, at least.
const sizeStep = 64 << 10

// Size is about how many bytes the state takes. It is measured again when calls have allocated as much as it had.
func (s *State) Size() int { return s.size }

// measure finds out the size, if it may have changed much. A state that is a number has none.
func (s *State) measure(t *thread) {
	s.allocated += t.allocated()
	if s.value.r == nil || s.allocated < sizeStep+int64(s.size) {
		return
	}
	s.size, s.allocated = t.retained(s.value.r), 0
}

// retained is how many bytes an object and all that it refers to take.
func (t *thread) retained(root object) int {
	size := 0
	seen := map[any]bool{nil: true}
	open := []any{root}
	add := func(o object) { open = append(open, o) }
	entries := func(e *entry) { add(e.key); add(e.value) }
	for len(open) > 0 {
		o := open[len(open)-1]
		open = open[:len(open)-1]
		t.step()
		switch o := o.(type) {
		case *boxBool, *boxByte, *boxShort, *boxChar, *boxInt, *boxLong, *boxFloat, *boxDouble:
			size += 16
			continue
		case *str:
			if o.length() < 64 { // there may be many: to remember which they are would take as much as they do
				size += 48 + o.length()
				continue
			}
		}
		if seen[o] {
			continue
		}
		seen[o] = true
		size += 48
		switch o := o.(type) {
		case *str:
			size += len(o.s) + 2*cap(o.u)
		case *builder:
			size += cap(o.b) + 2*cap(o.u)
		case *bigInteger:
			size += o.v.BitLen() / 8
		case *bigDecimal:
			size += o.unscaled.BitLen() / 8
		case *record:
			size += 64 * len(o.values)
			for _, b := range o.values {
				size += cap(b)
			}
		case *array:
			size += 8*cap(o.n) + 16*cap(o.r)
			open = slices.Grow(open, len(o.r))
			for _, e := range o.r {
				add(e)
			}
		case *byteBuffer:
			open = append(open, o.bytes)
		case *storage:
			if size += cap(o.raw); o.array != nil {
				add(o.array)
			}
		case *throwable:
			add(o.message)
		case *list:
			size += 16 * cap(o.items)
			open = slices.Grow(open, len(o.items))
			for _, e := range o.items {
				add(e)
			}
		case *set:
			open = append(open, o.m)
		case *mapObject:
			open = append(open, o.mapping)
		case *view:
			add(o.m)
		case *hashMap:
			size += 8 * cap(o.buckets)
			t.charge(len(o.buckets) / 8)
			for _, e := range o.buckets {
				for ; e != nil; e = e.next {
					size += 96
					entries(e)
				}
			}
		case *treeMap:
			size += 104 * cap(o.sorted)
			for _, e := range o.sorted {
				entries(e)
			}
		case *entry:
			// One that is kept keeps its neighbours in the map.
			entries(o)
			for _, e := range []*entry{o.next, o.before, o.after} {
				if e != nil {
					add(e)
				}
			}
		case *iterator:
			open = append(open, o.source)
		case *listSource:
			add(o.l)
		case *keySource:
			open = append(open, o.entrySource)
		case *viewSource:
			add(o.v.m)
		case *hashSource:
			open = append(open, o.m)
		case *treeSource:
			open = append(open, o.m)
		}
	}
	return size
}

// NewState decodes the initial state, nil if it is null, for a function whose first argument is the state.
func (f *Function) NewState(env *Env, initial []byte) (*State, error) {
	s := &State{f: f, null: f.args[0].isNull(initial)}
	if s.null {
		return s, nil
	}
	err := f.within(env, func(t *thread) {
		t.setArgument(0, initial)
		if a := f.args[0]; a.kind != voidKind {
			s.value.n = t.n[a.slot]
		} else {
			s.value.r = t.r[a.slot]
		}
	})
	return s, err
}

// Add calls the function with the state and the values of a row. A function that is not called on null input skips rows
// with a null, and forgets everything once the state is null.
func (s *State) Add(env *Env, row [][]byte) error {
	f := s.f
	if f.skips(f.args[1:], row) || s.null && !f.spec.CalledOnNull {
		return nil
	}
	return f.within(env, func(t *thread) {
		s.put(t)
		for i, b := range row {
			t.setArgument(i+1, b)
		}
		f.run(t)
		s.value, s.null = t.value, f.returns == voidKind && t.value.r == nil
		s.measure(t)
	})
}

// Value is the state as a value.
func (s *State) Value(env *Env) (result []byte, err error) {
	if s.null {
		return nil, nil
	}
	err = s.f.within(env, func(t *thread) {
		t.value = s.value
		result = t.result()
	})
	return result, err
}

// Finish calls the final function of the aggregate, whose only argument is the state.
func (s *State) Finish(env *Env, final *Function) (result []byte, err error) {
	if s.null && !final.spec.CalledOnNull {
		return nil, nil
	}
	err = final.within(env, func(t *thread) {
		s.put(t)
		final.run(t)
		result = t.result()
	})
	return result, err
}

// put makes the state the first argument of a call.
func (s *State) put(t *thread) {
	if a := t.fn.args[0]; a.kind != voidKind {
		t.n[a.slot] = s.number()
	} else {
		t.r[a.slot] = s.object(t)
	}
}

// number is the state as a primitive value. A function that is called on null input returns it in a box.
func (s *State) number() int64 {
	if s.value.r != nil {
		return unbox(s.value.r)
	}
	return s.value.n
}

// object is the state as an object, which the final function may want of a state that is a number.
func (s *State) object(t *thread) object {
	if s.value.r == nil && !s.null {
		return t.box(s.f.returns, s.value.n)
	}
	return s.value.r
}
