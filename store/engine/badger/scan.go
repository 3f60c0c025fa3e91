package badger

import (
	"bytes"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/badger/tables"
	"github.com/cqld/cqld/store/engine/keys"
)

// Scan goes through the tables, and asks Badger from where they cannot be asked.
func (s *Snapshot) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	if len(end) > 0 && bytes.Compare(start, end) >= 0 {
		return nil
	}
	if t := s.engine.tables.Cursor(s.txn.ReadTs(), start, end, o.Reverse); t != nil {
		defer t.Close()
		err := s.scan(&tableCursor{t, s}, start, end, o, fn)
		from, broken := t.Broken()
		if !broken {
			return err
		}
		if o.Reverse {
			end = from
		} else {
			start = from
		}
	}
	return s.scanBadger(start, end, o, fn)
}

// scanBadger asks Badger.
func (s *Snapshot) scanBadger(
	start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error),
) error {
	prefix := commonPrefix(start, end, o.Reverse)
	if o.Reverse {
		it := s.txn.NewIterator(badger.IteratorOptions{Reverse: true, Prefix: prefix})
		defer it.Close()
		return s.scanReverse(it, start, end, o, fn)
	}
	it := s.txn.NewIterator(badger.IteratorOptions{AllVersions: true, Prefix: prefix})
	defer it.Close()
	return s.scan(&badgerCursor{Iterator: it}, start, end, o, fn)
}

// cursor goes through keys, deleted ones as well.
type cursor interface {
	// Seek goes to the first key from key on, or in reverse to the last one before it.
	Seek(key []byte)

	Valid() bool
	Next()
	Key() []byte
	Deleted() bool

	// Visit calls fn with the value. It reports false without calling it if there is none after all.
	Visit(fn func(value []byte) error) (bool, error)
}

// scan calls fn for the keys that a cursor comes to. It steps over ranges in which all keys are deleted, and notes such
// ranges.
func (s *Snapshot) scan(
	c cursor, start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error),
) error {
	var key []byte
	more := true
	visit := func(value []byte) (err error) {
		if len(value) == 0 {
			return missing(key)
		}
		more, err = fn(key, value)
		return err
	}
	dead := deletedRun{reverse: o.Reverse}
	defer func() { dead.end(&s.emptied) }()
	first, outside := start, func(key []byte) bool { return len(end) > 0 && bytes.Compare(key, end) >= 0 }
	if o.Reverse {
		first, outside = end, func(key []byte) bool { return bytes.Compare(key, start) < 0 }
	}
	for c.Seek(first); c.Valid(); {
		key = c.Key()
		if outside(key) {
			return nil
		}
		if c.Deleted() {
			if h := s.emptied.get().at(key); h != nil {
				dead.step(h)
				if !o.Reverse {
					c.Seek(h.end)
				} else if bytes.Compare(h.start, start) > 0 {
					c.Seek(h.start)
				} else {
					return nil
				}
			} else {
				dead.pass(key)
				c.Next()
			}
			continue
		}
		dead.end(&s.emptied)
		var err error
		if o.KeysOnly {
			more, err = fn(key, nil)
		} else {
			_, err = c.Visit(visit)
		}
		if err != nil || !more {
			return err
		}
		c.Next()
	}
	return nil
}

// tableCursor is a cursor of the tables. It asks Badger for values that are not in them.
type tableCursor struct {
	*tables.Cursor
	snapshot *Snapshot
}

// Visit calls fn with the value.
func (c *tableCursor) Visit(fn func(value []byte) error) (bool, error) {
	if value, known := c.Value(); known {
		return true, fn(value)
	}
	return readBadger(c.snapshot.txn, c.Key(), fn)
}

// badgerCursor is a cursor of Badger's, which goes through all versions of the keys, the newest first.
type badgerCursor struct {
	*badger.Iterator
	last []byte // the key that it is at
}

// Seek goes forward to a key.
func (c *badgerCursor) Seek(key []byte) {
	c.Iterator.Seek(key)
	c.take()
}

// Next goes to the next key.
func (c *badgerCursor) Next() {
	c.Iterator.Next()
	for skipped := 1; c.Valid() && bytes.Equal(c.Item().Key(), c.last); skipped++ {
		if skipped == tables.MaxVersions {
			c.Iterator.Seek(append(c.last, 0))
		} else {
			c.Iterator.Next()
		}
	}
	c.take()
}

// take notes the key.
func (c *badgerCursor) take() {
	if c.Valid() {
		c.last = append(c.last[:0], c.Item().Key()...)
	}
}

// Key is the key that it is at.
func (c *badgerCursor) Key() []byte { return c.Item().Key() }

// Deleted reports whether the key is deleted.
func (c *badgerCursor) Deleted() bool { return c.Item().IsDeletedOrExpired() }

// Visit calls fn with the value.
func (c *badgerCursor) Visit(fn func(value []byte) error) (bool, error) {
	return true, c.Item().Value(fn)
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
	n := keys.Shared(start, end)
	if !reverse && n < len(start) && n+1 == len(end) && end[n] == start[n]+1 {
		n++ // end is the successor of what start begins with
	}
	if n < worthwhile {
		return nil
	}
	return start[:n]
}
