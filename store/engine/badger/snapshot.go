package badger

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/badger/tables"
)

// Snapshot reads what was written before it was made. Release has to be called when nobody reads it any more.
type Snapshot struct {
	engine  *Engine
	txn     *badger.Txn // never discarded, which managed mode allows
	emptied emptied
}

var _ engine.Reader = (*Snapshot)(nil)

// Snapshot makes a snapshot of what Write has written.
func (e *Engine) Snapshot() *Snapshot {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := &Snapshot{engine: e, txn: e.db.NewTransactionAt(e.version.Load(), false)}
	s.emptied.set(e.emptied)
	e.snapshots = append(e.snapshots, s)
	return s
}

// Release ends the reading of a snapshot. Badger may drop what only older snapshots than those left would read.
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
	return s.engine.readValue(s.txn, key, fn)
}

// Several are the values of several keys of a snapshot.
type Several struct {
	snapshot *Snapshot
	keys     [][]byte
	found    *tables.Several // nil: Badger is asked for any of them
}

// Several looks for keys.AtOnce keys at most. Close has to be called when nobody needs their values any more.
func (s *Snapshot) Several(keys [][]byte) Several {
	if len(keys) == 0 {
		return Several{}
	}
	return Several{s, keys, s.engine.tables.Several(keys, s.txn.ReadTs())}
}

// Close ends the use of the values.
func (s *Several) Close() {
	if s.found != nil {
		s.found.Close()
	}
}

// Get calls fn with the value of a key.
func (s *Several) Get(i int, fn func(value []byte) error) (bool, error) {
	if s.found != nil {
		if value, found, known := s.found.Value(i); found {
			return true, fn(value)
		} else if known {
			return false, nil
		}
	}
	return readBadger(s.snapshot.txn, s.keys[i], fn)
}

// readValue reads a key from Badger's tables, or else from Badger.
func (e *Engine) readValue(txn *badger.Txn, key []byte, fn func(value []byte) error) (bool, error) {
	if found, known, err := e.tables.Get(key, txn.ReadTs(), fn); known {
		return found, err
	}
	return readBadger(txn, key, fn)
}

// readBadger reads a key from Badger.
func readBadger(txn *badger.Txn, key []byte, fn func(value []byte) error) (bool, error) {
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("get key %x: %w", key, err)
	}
	return true, item.Value(func(value []byte) error {
		if len(value) == 0 {
			return missing(key)
		}
		return fn(value)
	})
}

// missing is the error for a value that is not in the value log or does not have its checksum. Badger logs that and
// returns no bytes without an error; every sound value has bytes.
func missing(key []byte) error {
	return fmt.Errorf("the data is damaged: the value of key %x is lost", key)
}
