package badger

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/cqld/cqld/store/engine"
)

// MaxKey is the longest key that Badger takes.
const MaxKey = 65000

// maxValue is the length of the longest value: one of a commit and what a flush merges into it.
const maxValue = valueLogFile / 2

// reserved begins the keys that Badger keeps for itself, and those of tails.
var reserved = [][]byte{[]byte("!badger!"), []byte(tailPrefix)}

// CheckKey refuses keys that cannot be written.
func CheckKey(key []byte) error {
	switch {
	case len(key) == 0:
		return errors.New("engine: a key is empty")
	case len(key) > MaxKey:
		return engine.ErrTooLarge
	}
	for _, prefix := range reserved {
		if bytes.HasPrefix(key, prefix) {
			return fmt.Errorf("engine: keys may not begin with %s", prefix)
		}
	}
	return nil
}

// Write writes operations in their order, each on another key, in as many transactions as they take. It returns how
// many are written. The error says why the next one is not. One goroutine at a time calls Write.
func (e *Engine) Write(ops []engine.Op) (written int, err error) {
	for written < len(ops) {
		n, err := e.writeSome(ops[written:])
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// transaction is a transaction of Badger's that is being made.
type transaction struct {
	*badger.Txn
	size     int
	inTables int  // of size, what counts for Badger's limit: values for the value log count little
	large    bool // has values for the value log
}

// entryOverhead is the most that an entry counts in a transaction besides its key and value.
const entryOverhead = 16

// writeSome writes as many operations as go into a transaction.
func (e *Engine) writeSome(ops []engine.Op) (n int, err error) {
	if err := e.refused(); err != nil {
		return 0, err
	}
	opts := e.db.Opts()
	x := transaction{Txn: e.db.NewTransactionAt(e.version.Load(), true)}
	defer x.Discard()
	most := int(e.db.MaxBatchCount() * 9 / 10) // the rest is for Badger's own entries and overhead
	for ; n < len(ops) && n < most; n++ {
		var value []byte
		if value, err = e.valueOf(x.Txn, &ops[n]); err != nil {
			break
		}
		size := len(ops[n].Key) + len(value) + entryOverhead
		inTables, large := size, int64(len(value)) >= opts.ValueThreshold
		if large {
			inTables = len(ops[n].Key) + 2*entryOverhead
		}
		if int64(x.inTables+inTables) > e.db.MaxBatchSize()*9/10 {
			if n == 0 {
				err = engine.ErrTooLarge
			}
			break
		}
		if value == nil {
			err = x.Delete(ops[n].Key)
		} else {
			err = x.Set(ops[n].Key, value)
		}
		if err != nil {
			return 0, e.fail(fmt.Errorf("badger refuses what was checked: %w", err))
		}
		x.size, x.inTables, x.large = x.size+size, x.inTables+inTables, x.large || large
	}
	if n > 0 {
		if err := e.commit(&x, ops[:n]); err != nil {
			return 0, err
		}
	}
	return n, err
}

// valueOf is what a key holds after an operation; nil: nothing.
func (e *Engine) valueOf(txn *badger.Txn, op *engine.Op) (value []byte, _ error) {
	switch op.Kind {
	case engine.Delete:
		return nil, nil
	case engine.Merge:
		found, err := e.readValue(txn, op.Key, func(existing []byte) (err error) {
			value, err = e.fold(nil, op.Key, existing, op.Value)
			return err
		})
		if err != nil {
			return nil, err
		}
		if found {
			break
		}
		fallthrough
	default:
		value = op.Value
	}
	if len(value) > maxValue {
		return nil, engine.ErrTooLarge
	}
	return value, nil
}

// commit gives a transaction to Badger. After an error of Badger's nobody knows what was written.
func (e *Engine) commit(x *transaction, ops []engine.Op) error {
	size := int64(x.size + logOverhead*len(ops) + commitOverhead)
	if err := e.room.take(size, len(ops), x.large); err != nil {
		e.noteRoom(err)
		return err
	}
	e.divideEmptied(ops)
	version := e.version.Load() + 1
	err := x.CommitAt(version, nil)
	e.version.Store(version)
	if err == nil {
		e.commits.committed(version)
		if x.large {
			// The system may write what points into the value log to disk before the value, so there is no waiting. If it
			// cannot be synced now, this transaction is the last until it can.
			if err = e.Sync(); err != nil && passes(err) {
				err = nil
			}
		}
	}
	if err != nil {
		return e.fail(fmt.Errorf("%w: %w", engine.ErrUnknown, err))
	}
	return nil
}

// divideEmptied takes the keys that are written out of the emptied ranges, for the next snapshot.
func (e *Engine) divideEmptied(ops []engine.Op) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.snapshots); n > 0 && e.snapshots[n-1].txn.ReadTs() == e.version.Load() {
		e.emptied = e.snapshots[n-1].emptied.finish()
	}
	for i := 0; i < len(ops) && len(e.emptied) > 0; i++ {
		if ops[i].Kind != engine.Delete {
			e.emptied = e.emptied.without(ops[i].Key)
		}
	}
}
