package badger

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/cqld/cqld/store/engine"
)

// Snapshot reads the flushes that were complete before it was made. Release has to be called after the last read.
type Snapshot struct {
	engine *Engine
	txn    *badger.Txn // never discarded, which managed mode allows
}

var _ engine.Reader = (*Snapshot)(nil)

// Snapshot makes a snapshot.
func (e *Engine) Snapshot() *Snapshot {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := &Snapshot{e, e.db.NewTransactionAt(e.version.Load(), false)}
	e.snapshots = append(e.snapshots, s)
	return s
}

// Release ends the reading of a snapshot. Badger may drop versions that no other snapshot reads.
func (s *Snapshot) Release() {
	e := s.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	e.snapshots = slices.DeleteFunc(e.snapshots, func(other *Snapshot) bool { return other == s })
	oldest := e.version.Load()
	for _, left := range e.snapshots {
		oldest = min(oldest, left.txn.ReadTs())
	}
	e.db.SetDiscardTs(oldest)
}

// Get reads a key.
func (s *Snapshot) Get(key []byte, fn func(value []byte) error) (bool, error) {
	return s.get(key, func(value []byte, k kind) error {
		if k == long {
			var err error
			if value, err = s.readLong(key, value); err != nil {
				return s.engine.found(err)
			}
		}
		return fn(value)
	})
}

// get reads an entry.
func (s *Snapshot) get(key []byte, fn func(value []byte, k kind) error) (found bool, err error) {
	item, err := s.item(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("get key %x: %w", key, err)
	}
	return true, item.Value(func(stored []byte) error { return s.visit(key, stored, fn) })
}

// visit calls fn with the value of an entry, if its checksum is right.
func (s *Snapshot) visit(key, stored []byte, fn func(value []byte, k kind) error) error {
	value, k, err := openEntry(key, stored)
	if err != nil {
		return s.engine.found(err)
	}
	return fn(value, k)
}

// item gets a key from Badger.
func (s *Snapshot) item(key []byte) (item *badger.Item, err error) {
	defer s.engine.recoverDamage(&err)
	return s.txn.Get(key)
}

// recoverDamage turns a panic inside Badger into damage: Badger follows offsets in a damaged block.
func (e *Engine) recoverDamage(err *error) {
	if p := recover(); p != nil {
		*err = e.found(fmt.Errorf("%w: reading a table: %v", ErrDamaged, p))
	}
}

// Scan reads a range.
func (s *Snapshot) Scan(start, end []byte, o engine.ScanOptions, fn func(key, value []byte) (bool, error)) error {
	if len(end) > 0 && bytes.Compare(start, end) >= 0 {
		return nil
	}
	x := scan{snapshot: s, options: o, fn: fn}
	x.Iterator = s.txn.NewIterator(badger.IteratorOptions{Reverse: o.Reverse, Prefix: commonPrefix(start, end, o.Reverse)})
	defer x.Close()
	first, outside := start, func(key []byte) bool { return len(end) > 0 && bytes.Compare(key, end) >= 0 }
	if o.Reverse {
		first, outside = end, func(key []byte) bool { return bytes.Compare(key, start) < 0 }
	}
	return x.run(first, end, outside)
}

// scan is a Scan that is under way.
type scan struct {
	*badger.Iterator
	snapshot *Snapshot
	options  engine.ScanOptions
	fn       func(key, value []byte) (bool, error)
	key      []byte // that it is at
	more     bool
}

func (x *scan) run(first, end []byte, outside func(key []byte) bool) error {
	err := x.move(func() { x.Seek(first) })
	for ; err == nil && x.Valid(); err = x.move(x.Next) {
		x.key = x.Item().Key()
		if x.options.Reverse && len(end) > 0 && bytes.Equal(x.key, end) {
			continue
		}
		if outside(x.key) {
			return nil
		}
		if bytes.HasPrefix(x.key, []byte(ownPrefix)) {
			next := afterOwn
			if x.options.Reverse {
				next = []byte(ownPrefix) // which is no key itself
			}
			if err = x.move(func() { x.Seek(next) }); err != nil || !x.Valid() {
				return err
			}
			if x.key = x.Item().Key(); outside(x.key) {
				return nil
			}
		}
		if err := x.Item().Value(x.visit); err != nil || !x.more {
			return err
		}
	}
	return err
}

// move moves the iterator.
func (x *scan) move(step func()) (err error) {
	defer x.snapshot.engine.recoverDamage(&err)
	step()
	return nil
}

// visit calls fn with the entry that the scan is at.
func (x *scan) visit(stored []byte) error {
	return x.snapshot.visit(x.key, stored, func(value []byte, k kind) (err error) {
		if x.options.KeysOnly {
			value = nil
		} else if k == long {
			if value, err = x.snapshot.readLong(x.key, value); err != nil {
				return x.snapshot.engine.found(err)
			}
		}
		x.more, err = x.fn(x.key, value)
		return err
	})
}

// minPrefix is the length of the shortest useful prefix. Badger compares it with every key, and it excludes tables
// only at the beginning of a scan: a scan of all keys with a short prefix is a long one.
const minPrefix = 4

// commonPrefix is the prefix of all keys in [start, end), with which Badger can exclude tables. It is nil if it is
// short. In reverse, end begins with it too: a scan that seeks a key without it finds nothing.
func commonPrefix(start, end []byte, reverse bool) []byte {
	n := engine.SharedPrefix(start, end)
	if !reverse && n < len(start) && n+1 == len(end) && end[n] == start[n]+1 {
		n++ // end is the successor of a prefix of start
	}
	if n < minPrefix {
		return nil
	}
	return start[:n]
}
