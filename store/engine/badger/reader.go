package badger

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/cqld/cqld/store/engine"
)

// snapshot reads what is committed at the version of its transaction.
type snapshot struct {
	txn     *badger.Txn
	cache   *cache
	fold    engine.Fold
	emptied emptiedRanges
	probes  chan<- emptiedRange // nil: nobody is told of deleted keys
}

// Get reads a key at the last commit.
func (e *Engine) Get(key []byte, fn func(value []byte) error) (bool, error) {
	c := e.readers.enter()
	if c == nil {
		return false, engine.ErrClosed
	}
	defer c.leave()
	if p := e.damage.Load(); p != nil {
		return false, *p
	}
	return e.current.Load().Get(key, fn)
}

// Scan reads a range at the last commit.
func (e *Engine) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	return e.View(func(r engine.Reader) error { return r.Scan(start, end, o, fn) })
}

// View runs fn on the last commit.
func (e *Engine) View(fn func(engine.Reader) error) error {
	c := e.readers.enter()
	if c == nil {
		return engine.ErrClosed
	}
	defer c.leave()
	if p := e.damage.Load(); p != nil {
		return *p
	}
	return fn(e.current.Load())
}

// Get reads a key from the cache or else from Badger.
func (s *snapshot) Get(key []byte, fn func(value []byte) error) (bool, error) {
	if s.cache == nil {
		return s.read(key, fn)
	}
	return s.get(hashKey(key), key, fn)
}

// get is Get with a cache, which keeps what is read from Badger.
func (s *snapshot) get(hash uint64, key []byte, fn func(value []byte) error) (bool, error) {
	version := s.txn.ReadTs()
	if value, ok := s.cache.get(hash, key, version); ok {
		return true, fn(value)
	}
	item, err := s.find(key)
	if item == nil {
		return false, err
	}
	return true, item.Value(func(value []byte) error {
		if len(value) == 0 {
			return missing(key)
		}
		if item.UserMeta() != longMeta {
			s.cache.fill(hash, key, value, version)
			return fn(value)
		}
		value, err := s.whole(item, key, value)
		if err != nil {
			return err
		}
		return fn(value)
	})
}

// read is Get without a cache.
func (s *snapshot) read(key []byte, fn func(value []byte) error) (bool, error) {
	item, err := s.find(key)
	if item == nil {
		return false, err
	}
	return true, item.Value(func(value []byte) error {
		if len(value) == 0 {
			return missing(key)
		}
		value, err := s.whole(item, key, value)
		if err != nil {
			return err
		}
		return fn(value)
	})
}

// missing is the error for a value that is not in the value log or does not have its checksum. Badger logs that and
// returns no bytes without an error; every sound value has bytes.
func missing(key []byte) error {
	return fmt.Errorf("the data is damaged: the value of key %x is lost", key)
}

// find looks for a key in Badger. It returns nil if it is not there.
func (s *snapshot) find(key []byte) (*badger.Item, error) {
	item, err := s.txn.Get(key)
	if err == nil {
		return item, nil
	}
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	return nil, fmt.Errorf("get key %x: %w", key, err)
}

// Scan reads from Badger only, so a long one takes no room in the cache from what is read again and again.
func (s *snapshot) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	if hasTails(start, end) {
		return s.scanBeside(start, end, o, fn)
	}
	return s.scan(start, end, o, fn)
}

// scan is Scan for a range without tails.
func (s *snapshot) scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	if len(end) > 0 && bytes.Compare(start, end) >= 0 {
		return nil
	}
	it := s.txn.NewIterator(badger.IteratorOptions{
		Reverse: o.Reverse, AllVersions: !o.Reverse, Prefix: commonPrefix(start, end),
	})
	defer it.Close()
	if o.Reverse {
		return s.scanReverse(it, start, end, o, fn)
	}
	return s.scanForward(it, start, end, o, fn)
}

// maxVersions is how many old versions of a key are stepped over one by one before a seek behind them all: a row
// that was just written thousands of times has as many.
const maxVersions = 16

// scanForward goes through all versions of the keys, newest first.
func (s *snapshot) scanForward(
	it *badger.Iterator, start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error),
) error {
	var last, key []byte
	var item *badger.Item
	var more bool
	visit := func(value []byte) (err error) {
		if !o.KeysOnly {
			if len(value) == 0 {
				return missing(key)
			}
			if value, err = s.whole(item, key, value); err != nil {
				return err
			}
		}
		more, err = fn(key, value)
		return err
	}
	var dead deletedRun
	defer func() { dead.over(s.probes) }()
	skipped := 0
	shared := len(commonPrefix(start, end)) // Badger gives only keys that have it
	for it.Seek(start); it.Valid(); {
		item = it.Item()
		key = item.Key()
		if last != nil && bytes.Equal(key, last) {
			if skipped++; skipped == maxVersions {
				it.Seek(append(last, 0))
			} else {
				it.Next()
			}
			continue
		}
		if len(end) > 0 && bytes.Compare(key[shared:], end[shared:]) >= 0 {
			return nil
		}
		last, skipped = append(last[:0], key...), 0
		if item.IsDeletedOrExpired() {
			if h := s.emptied.at(key); h != nil {
				dead.step(h)
				it.Seek(h.end)
			} else {
				dead.pass(key)
				it.Next()
			}
			continue
		}
		if len(dead.end) > 0 {
			dead.over(s.probes)
		}
		var err error
		if o.KeysOnly {
			err = visit(nil)
		} else {
			err = item.Value(visit)
		}
		if err != nil || !more {
			return err
		}
		it.Next()
	}
	return nil
}

// slowSeek is how long a seek takes only if there are many deleted keys before the key.
const slowSeek = 200 * time.Microsecond

// scanReverse leaves it to Badger to find each key's last version. Badger does not show what was deleted, so only an
// emptied range at the end is stepped over. A slow seek is a sign that there is one.
func (s *snapshot) scanReverse(
	it *badger.Iterator, start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error),
) error {
	if h := s.emptied.before(end); h != nil {
		if bytes.Compare(h.start, start) <= 0 {
			return nil
		}
		end = h.start
	}
	began := time.Now()
	it.Seek(end)
	if s.probes != nil && len(end) > 0 && time.Since(began) > slowSeek {
		s.suspect(it, start, end)
	}
	for ; it.Valid(); it.Next() {
		item := it.Item()
		key := item.Key()
		if len(end) > 0 && bytes.Equal(key, end) {
			continue
		}
		if bytes.Compare(key, start) < 0 {
			return nil
		}
		if more, err := s.visit(item, key, o.KeysOnly, fn); err != nil || !more {
			return err
		}
	}
	return nil
}

// suspect tells the prober of the range between the key that a seek backwards has found, or start, and end.
func (s *snapshot) suspect(it *badger.Iterator, start, end []byte) {
	from := start
	if it.Valid() && bytes.Compare(it.Item().Key(), start) >= 0 {
		from = append(it.Item().KeyCopy(nil), 0)
	}
	if bytes.Compare(from, end) < 0 {
		select {
		case s.probes <- emptiedRange{bytes.Clone(from), bytes.Clone(end), 2 * walkable}:
		default: // it is busy, and will be told again
		}
	}
}

// visit calls fn with a key and, unless only keys are wanted, its value.
func (s *snapshot) visit(
	item *badger.Item, key []byte, keyOnly bool, fn func(key, value []byte) (bool, error),
) (more bool, err error) {
	if keyOnly {
		return fn(key, nil)
	}
	err = item.Value(func(value []byte) error {
		if len(value) == 0 {
			return missing(key)
		}
		value, err := s.whole(item, key, value)
		if err != nil {
			return err
		}
		more, err = fn(key, value)
		return err
	})
	return more, err
}

// worthwhile is the least length of a useful prefix. Badger compares it with every key, and it excludes tables only
// at the beginning of a scan: a scan of all keys with a short prefix is a long one.
const worthwhile = 8

// commonPrefix is what all keys in [start, end) begin with, so that Badger can exclude tables. It is nil if it is
// short.
func commonPrefix(start, end []byte) []byte {
	n := min(len(start), len(end))
	for i := range n {
		if start[i] != end[i] {
			n = i
			break
		}
	}
	if n < worthwhile {
		return nil
	}
	return start[:n]
}
