package badger

import (
	"math"

	"github.com/dgraph-io/badger/v4"

	"github.com/cqld/cqld/store/engine"
)

// dropUnreadable deletes the keys whose values cannot be read any more, and counts them.
func (e *Engine) dropUnreadable() (int, error) {
	txn := e.db.NewTransactionAt(math.MaxUint64, false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{})
	defer it.Close()
	var keys [][]byte
	for it.Rewind(); it.Valid(); it.Next() {
		empty := false // Badger has no value for a key whose place it cannot read
		err := it.Item().Value(func(value []byte) error {
			empty = len(value) == 0
			return nil
		})
		if err != nil || empty {
			keys = append(keys, it.Item().KeyCopy(nil))
		}
	}
	var ops []engine.Op
	for _, key := range keys {
		ops = append(ops, engine.Op{Kind: engine.Delete, Key: key})
	}
	_, err := e.Write(ops)
	return len(keys), err
}
