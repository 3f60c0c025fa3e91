package badger

import (
	"bytes"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/cqld/cqld/store/engine"
)

// Earlier versions kept what was merged into a long value in its tail, a delta under a key of its own. An entry with
// longMeta has one, unless it was never written.
const (
	tailPrefix = "!cqld!tail!" // begins the keys of tails. The key of the value follows.
	longMeta   = 1             // the user's byte of an entry
)

// foldTails folds the tails that a folder has into their values. If it is interrupted and done again nothing changes
// by that.
func (e *Engine) foldTails() error {
	for {
		ops, err := e.someTails()
		if err != nil || len(ops) == 0 {
			return err
		}
		if _, err := e.Write(ops); err != nil {
			return err
		}
	}
}

// tailsAtOnce is how many bytes of values are held to fold tails into them, unless one is longer.
const tailsAtOnce = 8 << 20

// someTails returns what folds some tails: the values, and the removal of the tails behind them.
func (e *Engine) someTails() (ops []engine.Op, err error) {
	txn := e.db.NewTransactionAt(e.version.Load(), false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte(tailPrefix)})
	defer it.Close()
	size := 0
	for it.Rewind(); it.Valid() && size < tailsAtOnce; it.Next() {
		tail := it.Item().KeyCopy(nil)
		value, err := e.wholeValue(txn, it.Item(), tail[len(tailPrefix):])
		if err != nil {
			return nil, fmt.Errorf("fold what was merged into key %x: %w", tail[len(tailPrefix):], err)
		}
		if value != nil {
			ops = append(ops, engine.Op{Kind: engine.Put, Key: tail[len(tailPrefix):], Value: value})
		}
		ops = append(ops, engine.Op{Kind: engine.Delete, Key: tail})
		size += len(tail) + len(value)
	}
	return ops, nil
}

// wholeValue is the value of a key with its tail. It is nil if the key has no value that may have one.
func (e *Engine) wholeValue(txn *badger.Txn, tail *badger.Item, key []byte) (whole []byte, err error) {
	item, err := txn.Get(key)
	if err == badger.ErrKeyNotFound || err == nil && item.UserMeta() != longMeta {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = item.Value(func(value []byte) error {
		return tail.Value(func(delta []byte) error {
			if len(value) == 0 || len(delta) == 0 {
				return missing(key)
			}
			whole, err = e.fold(nil, bytes.Clone(key), value, delta)
			return err
		})
	})
	return whole, err
}
