package badger

import (
	"bytes"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/cqld/cqld/store/engine"
)

// Scan reads from Badger only, so a long one takes no room in the cache from what is read again and again.
func (s *Snapshot) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	if len(end) > 0 && bytes.Compare(start, end) >= 0 {
		return nil
	}
	prefix := commonPrefix(start, end, o.Reverse)
	it := s.txn.NewIterator(badger.IteratorOptions{Reverse: o.Reverse, AllVersions: !o.Reverse, Prefix: prefix})
	defer it.Close()
	if o.Reverse {
		return s.scanReverse(it, start, end, o, fn)
	}
	return s.scanForward(it, start, end, o, fn, len(prefix))
}

// maxVersions is how many old versions of a key are stepped over one by one before a seek behind them all: a row
// that was just written thousands of times has as many.
const maxVersions = 16

// scanForward goes through all versions of the keys, newest first. Badger gives only keys that begin with the first
// shared bytes of start.
func (s *Snapshot) scanForward(
	it *badger.Iterator, start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error), shared int,
) error {
	var last, key []byte
	var item *badger.Item
	var more bool
	visit := func(value []byte) (err error) {
		if !o.KeysOnly && len(value) == 0 {
			return missing(key)
		}
		more, err = fn(key, value)
		return err
	}
	var dead deletedRun
	defer func() { dead.end(&s.emptied) }()
	skipped := 0
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
		if len(end) > shared && bytes.Compare(key[shared:], end[shared:]) >= 0 {
			return nil
		}
		last, skipped = append(last[:0], key...), 0
		if item.IsDeletedOrExpired() {
			if h := s.emptied.get().at(key); h != nil {
				dead.step(h)
				it.Seek(h.end)
			} else {
				dead.pass(key)
				it.Next()
			}
			continue
		}
		dead.end(&s.emptied)
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
func (s *Snapshot) scanReverse(
	it *badger.Iterator, start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error),
) error {
	if h := s.emptied.get().before(end); h != nil {
		if bytes.Compare(h.start, start) <= 0 {
			return nil
		}
		end = h.start
	}
	began := time.Now()
	it.Seek(end)
	if len(end) > 0 && time.Since(began) > slowSeek {
		s.noteEmptied(it, start, end)
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

// noteEmptied notes that nothing is between the key that a seek backwards has found, or start, and end.
func (s *Snapshot) noteEmptied(it *badger.Iterator, start, end []byte) {
	from := start
	if it.Valid() && bytes.Compare(it.Item().Key(), start) >= 0 {
		from = append(it.Item().KeyCopy(nil), 0)
	}
	if bytes.Compare(from, end) < 0 {
		s.emptied.add(emptiedRange{bytes.Clone(from), bytes.Clone(end), 2 * walkable})
	}
}

// visit calls fn with a key and, unless only keys are wanted, its value.
func (s *Snapshot) visit(
	item *badger.Item, key []byte, keyOnly bool, fn func(key, value []byte) (bool, error),
) (more bool, err error) {
	if keyOnly {
		return fn(key, nil)
	}
	err = item.Value(func(value []byte) error {
		if len(value) == 0 {
			return missing(key)
		}
		more, err = fn(key, value)
		return err
	})
	return more, err
}

// worthwhile is the least length of a useful prefix. Badger compares it with every key, and it excludes tables only
// at the beginning of a scan: a scan of all keys with a short prefix is a long one.
const worthwhile = 4

// commonPrefix is what all keys in [start, end) begin with, so that Badger can exclude tables. It is nil if it is
// short. In reverse, end begins with it too: a scan that seeks a key without it finds nothing.
func commonPrefix(start, end []byte, reverse bool) []byte {
	n := min(len(start), len(end))
	for i := range n {
		if start[i] != end[i] {
			n = i
			break
		}
	}
	if !reverse && n < len(start) && n+1 == len(end) && end[n] == start[n]+1 {
		n++ // end is the successor of what start begins with
	}
	if n < worthwhile {
		return nil
	}
	return start[:n]
}
