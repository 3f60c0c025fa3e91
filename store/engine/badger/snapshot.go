package badger

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/cqld/cqld/store/engine"
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
