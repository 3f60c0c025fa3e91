package java

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

// objectSize is about how many times larger an object is than its value. An element of list<int> has 8 bytes there.
const objectSize = 8

// Size is about how many bytes the state takes. It is measured again when calls have allocated as much as it had.
func (s *State) Size() int { return s.size }

// measure finds out the size, if it may have changed much. A state that is a number has none.
func (s *State) measure(t *thread) {
	s.allocated += t.env.Memory - t.mem
	if s.value.r == nil || s.allocated < sizeStep+int64(s.size) {
		return
	}
	t.value = s.value
	s.size, s.allocated = objectSize*len(t.result()), 0
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
