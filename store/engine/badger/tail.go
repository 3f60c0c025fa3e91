package badger

import (
	"bytes"
	"math"

	"github.com/dgraph-io/badger/v4"

	"github.com/cqld/cqld/store/engine"
)

// A long value that grows by one merge after the other, like a list, would be written anew each time. So merges into
// it go into its tail, a delta under a key of its own. A tail that has grown is folded into the value. Reads of the
// key fold both.
//
// A long value that was folded has longMeta: there may be a tail. Without longMeta there is none, because a put or a
// delete removes the tail.

// tailPrefix begins the keys of tails. The key of the value follows. Scans do not show them.
const tailPrefix = "!cqld!tail!"

// tailsEnd is behind the keys of all tails.
const tailsEnd = "!cqld!tail\""

// longMeta is the user's byte of a Badger entry whose value may have a tail.
const longMeta = 1

// leastLong is the least length of a long value. The cache keeps shorter ones.
const leastLong = maxCached

// tails is what the writer knows of tails.
type tails struct {
	least int            // bytes of a value that may have a tail
	some  bool           // there may be a tail
	sizes map[string]int // of some values with longMeta: reading them would copy them
}

// maxSizes is how many sizes are remembered.
const maxSizes = 1024

// note remembers the size of a value that has longMeta.
func (t *tails) note(key []byte, size int) {
	if len(t.sizes) >= maxSizes {
		for other := range t.sizes {
			delete(t.sizes, other)
			break
		}
	}
	t.sizes[string(key)] = size
}

// size returns the size of a key's value if it is known to have longMeta.
func (t *tails) size(key []byte) (size int, ok bool) {
	if len(t.sizes) > 0 {
		size, ok = t.sizes[string(key)]
	}
	return size, ok
}

// written forgets the size of a value that changes.
func (t *tails) written(key []byte) {
	if len(t.sizes) > 0 {
		delete(t.sizes, string(key))
	}
}

// failed forgets all sizes, because some may be of values that were not committed.
func (t *tails) failed() { clear(t.sizes) }

// openTails looks whether there are tails.
func openTails(db *badger.DB, version uint64, least int) *tails {
	if least == 0 {
		least = leastLong
	}
	txn := db.NewTransactionAt(version, false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte(tailPrefix)})
	defer it.Close()
	it.Rewind()
	return &tails{least: least, some: it.Valid(), sizes: map[string]int{}}
}

func tailKey(key []byte) []byte {
	return append(append(make([]byte, 0, len(tailPrefix)+len(key)), tailPrefix...), key...)
}

// tailRoom is how long a tail may become by a delta. A longer tail costs more with each delta, a shorter one is
// folded in more often: with the square root both cost the same.
func tailRoom(value, delta int) int {
	return int(2 * math.Sqrt(float64(value)*float64(delta)))
}

// whole returns the value of an item with its tail.
func (s *snapshot) whole(item *badger.Item, key, value []byte) ([]byte, error) {
	if item.UserMeta() != longMeta {
		return value, nil
	}
	tail, err := s.find(tailKey(key))
	if tail == nil {
		return value, err
	}
	err = tail.Value(func(delta []byte) (err error) {
		value, err = s.folded(key, value, delta)
		return err
	})
	return value, err
}

// folded folds a tail's delta into a value.
func (s *snapshot) folded(key, value, delta []byte) ([]byte, error) {
	if len(delta) == 0 {
		return nil, missing(key)
	}
	return s.fold(key, value, delta)
}

// scanBeside is Scan for a range with keys of tails, which it leaves out.
func (s *snapshot) scanBeside(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	behind := start
	if bytes.Compare(behind, []byte(tailsEnd)) < 0 {
		behind = []byte(tailsEnd)
	}
	ranges := [2][2][]byte{{start, []byte(tailPrefix)}, {behind, end}}
	if o.Reverse {
		ranges[0], ranges[1] = ranges[1], ranges[0]
	}
	more := true
	for _, r := range ranges {
		err := s.scan(r[0], r[1], o, func(key, value []byte) (_ bool, err error) {
			more, err = fn(key, value)
			return more, err
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// hasTails reports whether keys of tails can lie in a range.
func hasTails(start, end []byte) bool {
	return (len(end) == 0 || string(end) > tailPrefix) && string(start) < tailsEnd
}

// mergeLong merges into a value of size bytes that may have a tail: into the tail, or everything into the value if
// the tail would be too long.
func (s *stage) mergeLong(e entry, size int) error {
	delta := e.value
	tail := entry{key: tailKey(e.key), value: delta, tail: true}
	tail.hash = hashKey(tail.key)
	existed, err := s.get(tail.hash, tail.key, func(existing []byte) (err error) {
		tail.value, err = s.fold(e.key, existing, delta)
		tail.folded = true
		return err
	})
	if err != nil {
		return err
	}
	if len(tail.value) <= tailRoom(size, len(delta)) && len(tail.key) <= maxKey {
		s.tails.some, s.tailed = true, true
		s.tails.note(e.key, size)
		s.set(tail)
		return nil
	}
	_, err = s.getLong(e.key, tail.value, func(value []byte) error {
		e.value, e.folded = value, true
		return nil
	})
	if err != nil {
		return err
	}
	s.set(e)
	if existed {
		s.set(entry{key: tail.key, hash: tail.hash, tail: true})
	}
	return nil
}

// ownTail is what this request has written to the tail of a key, or nil.
func (s *stage) ownTail(key []byte) []byte {
	if !s.tailed {
		return nil
	}
	if i := s.find(tailKey(key)); i >= 0 {
		return s.entries[i].value
	}
	return nil
}

// getLong calls fn with a value below this request, folded with the tail that the request wrote.
func (s *stage) getLong(key, tail []byte, fn func(value []byte) error) (bool, error) {
	item, err := s.below.find(key)
	if item == nil {
		return false, err
	}
	return true, item.Value(func(value []byte) error {
		if len(value) == 0 {
			return missing(key)
		}
		value, err := s.fold(key, value, tail)
		if err != nil {
			return err
		}
		return fn(value)
	})
}

// dropTail removes the tail of a key whose value is replaced.
func (s *stage) dropTail(key []byte) error {
	tail := entry{key: tailKey(key), tail: true}
	tail.hash = hashKey(tail.key)
	if len(tail.key) > maxKey {
		return nil
	}
	existed, err := s.get(tail.hash, tail.key, func([]byte) error { return nil })
	if existed {
		s.set(tail)
	}
	return err
}
