package badger

import (
	"bytes"
	"slices"

	"github.com/cqld/cqld/store/engine"
)

// stage collects what one request writes on top of the batch, until it is known to fit. An Update's function sees
// it as its transaction.
type stage struct {
	below   *batch // what is committed and what earlier requests of the batch wrote
	fold    engine.Fold
	tails   *tails
	entries []entry
	index   map[string]int // of entries; only made when they are many
	size    int
	tailed  bool  // a tail is among the entries
	err     error // of the first write that failed
}

// entry is a key's next value; nil deletes it.
type entry struct {
	key, value []byte
	hash       uint64 // of the key
	folded     bool   // the value was folded, so nobody else has it
	long       bool   // the value may have a tail
	tail       bool   // the key is that of a tail
}

// fewEntries is how many entries are searched one by one; more get an index.
const fewEntries = 8

func (s *stage) begin(below *batch, fold engine.Fold, t *tails) {
	s.clear()
	s.below, s.fold, s.tails = below, fold, t
}

// clear forgets the entries and the memory of their values.
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

// inTables is the size of what counts for the limit of a commit.
func (s *stage) inTables(e *Engine) (n int) {
	if !e.front {
		return s.size
	}
	for i := range s.entries {
		n += e.tableSize(s.entries[i].key, s.entries[i].value)
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
	if s.tails.some {
		if err := s.dropTail(key); err != nil && s.err == nil {
			s.err = err
		}
	}
	s.set(e)
}

// set adds an entry, or replaces the one of the same key.
func (s *stage) set(e entry) {
	key, value := e.key, e.value
	s.tails.written(key)
	e.long = e.folded && !e.tail && len(value) >= s.tails.least
	if i := s.find(key); i >= 0 {
		x := &s.entries[i]
		s.size += len(value) - len(x.value)
		x.value, x.folded, x.long = value, e.folded, e.long
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

// merge folds a delta into the value of a key. Without a value the delta is the value.
func (s *stage) merge(key, delta []byte) error {
	e := entry{key: key, value: delta, hash: hashKey(key)}
	if i := s.find(key); i >= 0 {
		return s.mergeInto(e, s.entries[i].value)
	}
	if size, long := s.tails.size(key); long {
		return s.mergeLong(e, size)
	}
	cached, item, err := s.below.look(e.hash, key)
	switch {
	case err != nil:
		return err
	case item == nil:
		return s.mergeInto(e, cached)
	case item.UserMeta() == longMeta:
		return s.mergeLong(e, int(item.ValueSize()))
	}
	return item.Value(func(existing []byte) error {
		if len(existing) == 0 {
			return missing(key)
		}
		return s.mergeInto(e, existing)
	})
}

// mergeInto folds an entry's value into an existing one. nil: there is none.
func (s *stage) mergeInto(e entry, existing []byte) (err error) {
	if existing != nil {
		e.folded = true
		if e.value, err = s.fold(e.key, existing, e.value); err != nil {
			return err
		}
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
	if tail := s.ownTail(key); tail != nil {
		return s.getLong(key, tail, fn)
	}
	return s.below.Get(key, fn)
}

// get is Get for the key of a tail.
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
		if !e.tail && bytes.Compare(e.key, start) >= 0 && (len(end) == 0 || bytes.Compare(e.key, end) < 0) {
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
			more, err = s.show(key, value, o, fn)
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

// show calls fn with a value below this request, folded with the tail that the request wrote.
func (s *stage) show(
	key, value []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error),
) (more bool, err error) {
	tail := s.ownTail(key)
	if tail == nil || o.KeysOnly {
		return fn(key, value)
	}
	_, err = s.getLong(key, tail, func(value []byte) error {
		more, err = fn(key, value)
		return err
	})
	return more, err
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

// valid notes what is wrong with a write. The Update then fails as a whole.
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
