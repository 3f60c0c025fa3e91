package badger

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/store/engine"
)

// stage collects what one request writes on top of the batch, until it is known to fit. It is the
// transaction that an Update's function sees.
type stage struct {
	below   *batch // what is committed and what earlier requests wrote
	fold    engine.Fold
	filter  *filter
	entries []entry
	index   map[string]int // of entries; only made when they are many
	size    int
	err     error // the first write that cannot be
	value   []byte
}

// entry is a key's next value; nil deletes it.
type entry struct {
	key, value []byte
	hash       uint64 // of the key
	first      bool   // the key certainly never was written before
	folded     bool   // the value was folded, so nobody else has it
}

// fewEntries is up to how many entries are searched one by one.
const fewEntries = 8

func (s *stage) begin(below *batch, fold engine.Fold, f *filter) {
	s.clear()
	s.below, s.fold, s.filter = below, fold, f
}

// clear forgets the entries, so that the memory of values is not kept.
func (s *stage) clear() {
	clear(s.entries)
	*s = stage{entries: s.entries[:0]}
}

// run stages what a request writes.
func (s *stage) run(r *request) error {
	if r.fn != nil {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := r.fn(s); err != nil {
			return err
		}
		return s.err
	}
	for i := range r.ops {
		op := &r.ops[i]
		switch op.Kind {
		case engine.Put:
			s.put(op.Key, op.Value)
		case engine.Delete:
			s.put(op.Key, nil)
		case engine.Merge:
			if err := s.merge(op.Key, op.Value); err != nil {
				return err
			}
		}
		if s.err != nil {
			return s.err
		}
	}
	return nil
}

// longest is the length of the longest value.
func (s *stage) longest() (n int) {
	for i := range s.entries {
		n = max(n, len(s.entries[i].value))
	}
	return n
}

// find returns the position of key among the entries, or -1.
func (s *stage) find(key []byte) int {
	if s.index != nil {
		if i, ok := s.index[string(key)]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(s.entries, func(e entry) bool { return bytes.Equal(e.key, key) })
}

// put writes a value, or deletes the key if it is nil.
func (s *stage) put(key, value []byte) {
	e := entry{key: key, value: value, hash: hashKey(key)}
	if value != nil {
		var err error
		if e.first, err = s.filter.write(key, e.hash, s.below); err != nil && s.err == nil {
			s.err = err
		}
	}
	s.set(e)
}

// set puts an entry in place of one of the same key.
func (s *stage) set(e entry) {
	key, value := e.key, e.value
	if i := s.find(key); i >= 0 {
		s.size += len(value) - len(s.entries[i].value)
		s.entries[i].value, s.entries[i].folded = value, e.folded
		return
	}
	s.size += entrySize(key, value)
	s.entries = append(s.entries, e)
	switch {
	case s.index != nil:
		s.index[string(key)] = len(s.entries) - 1
	case len(s.entries) > fewEntries:
		s.index = make(map[string]int, 4*fewEntries)
		for i, e := range s.entries {
			s.index[string(e.key)] = i
		}
	}
}

// merge folds a delta into what the key holds here; delta itself becomes the value if that is nothing.
func (s *stage) merge(key, delta []byte) error {
	e := entry{key: key, value: delta, hash: hashKey(key)}
	var err error
	if e.first, err = s.filter.write(key, e.hash, s.below); err != nil {
		return err
	}
	if e.first {
		s.set(e)
		return nil
	}
	s.value = nil
	e.folded, err = s.get(e.hash, key, func(existing []byte) (err error) {
		s.value, err = s.fold(key, existing, delta)
		return err
	})
	if err != nil {
		return err
	}
	if e.folded {
		e.value = s.value
	}
	s.set(e)
	return nil
}

// Get reads a key as this request and those before it left it.
func (s *stage) Get(key []byte, fn func(value []byte) error) (bool, error) {
	if i := s.find(key); i >= 0 {
		if s.entries[i].value == nil {
			return false, nil
		}
		return true, fn(s.entries[i].value)
	}
	return s.below.Get(key, fn)
}

// get is Get for a merge.
func (s *stage) get(hash uint64, key []byte, fn func(value []byte) error) (bool, error) {
	if s.find(key) >= 0 {
		return s.Get(key, fn)
	}
	return s.below.peek(hash, key, fn)
}

// Scan merges what the request wrote in the range so far with what is below it.
func (s *stage) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	var own []entry
	for _, e := range s.entries {
		if bytes.Compare(e.key, start) >= 0 && (len(end) == 0 || bytes.Compare(e.key, end) < 0) {
			own = append(own, e)
		}
	}
	compare := bytes.Compare
	if o.Reverse {
		compare = func(a, b []byte) int { return bytes.Compare(b, a) }
	}
	slices.SortFunc(own, func(a, b entry) int { return compare(a.key, b.key) })

	// before visits the own entries that come before key, or all of them if it is nil.
	before := func(key []byte) (more bool, err error) {
		for more = true; more && err == nil && len(own) > 0 && (key == nil || compare(own[0].key, key) < 0); own = own[1:] {
			if own[0].value != nil {
				more, err = fn(own[0].key, keyOrBoth(own[0].value, o))
			}
		}
		return more && err == nil, err
	}
	stopped := false
	err := s.below.Scan(start, end, o, func(key, value []byte) (bool, error) {
		more, err := before(key)
		if more && len(own) > 0 && bytes.Equal(own[0].key, key) {
			own0 := own[0]
			own = own[1:]
			if own0.value != nil {
				more, err = fn(key, keyOrBoth(own0.value, o))
			}
		} else if more {
			more, err = fn(key, value)
		}
		stopped = !more
		return more, err
	})
	if err != nil || stopped {
		return err
	}
	_, err = before(nil)
	return err
}

func keyOrBoth(value []byte, o engine.ScanOptions) []byte {
	if o.KeysOnly {
		return nil
	}
	return value
}

// Put writes a copy of its arguments, as Delete and Merge do.
func (s *stage) Put(key, value []byte) {
	if s.valid(key, value) {
		s.put(bytes.Clone(key), bytes.Clone(value))
	}
}

// Delete removes a key.
func (s *stage) Delete(key []byte) {
	if s.valid(key, key) {
		s.put(bytes.Clone(key), nil)
	}
}

// Merge folds a delta in.
func (s *stage) Merge(key, delta []byte) {
	if s.valid(key, delta) {
		if err := s.merge(bytes.Clone(key), bytes.Clone(delta)); err != nil {
			s.err = err
		}
	}
}

// valid remembers what is wrong with a write; the Update then fails as a whole.
func (s *stage) valid(key, value []byte) bool {
	err := checkKey(key)
	if err == nil && len(value) == 0 {
		err = errEmptyValue
	}
	if err != nil && s.err == nil {
		s.err = err
	}
	return err == nil
}
