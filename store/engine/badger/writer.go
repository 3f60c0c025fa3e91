package badger

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cqld/cqld/store/engine"
)

const (
	// maxKey is the longest key that Badger takes.
	maxKey = 65000

	// maxBatch is how many requests share a transaction: enough to make syncs cheap, and few enough that
	// the first does not wait long for the last.
	maxBatch = 1024
)

// errEmptyValue says that the contract was broken: it has no empty values.
var errEmptyValue = errors.New("engine: a value is empty")

// reserved begins the keys that Badger keeps for itself, and those of tails.
var reserved = [][]byte{[]byte("!badger!"), []byte(tailPrefix)}

// Commit queues ops for the writer, which calls done.
func (e *Engine) Commit(ops []engine.Op, done func(error)) {
	if err := e.check(ops); err != nil {
		done(err)
		return
	}
	if err := e.send(request{ops: ops, done: done}); err != nil {
		done(err)
	}
}

// Update runs fn in the writer, so it is alone with the database whatever its guard.
func (e *Engine) Update(ctx context.Context, _ []byte, fn func(engine.Txn) error, done func(error)) {
	if err := e.send(request{fn: fn, ctx: ctx, done: done}); err != nil {
		done(err)
	}
}

func (e *Engine) send(r request) error {
	if err := e.refused(); err != nil {
		return err
	}
	if !e.queue.send(r) {
		return engine.ErrClosed
	}
	return nil
}

// check refuses operations that are over a limit as they stand. Values that merges make are checked later.
func (e *Engine) check(ops []engine.Op) error {
	if len(ops) > e.limits.CommitOps {
		return engine.ErrTooLarge
	}
	size := 0
	for i := range ops {
		op := &ops[i]
		if err := checkKey(op.Key); err != nil {
			return err
		}
		if op.Kind != engine.Delete && len(op.Value) == 0 {
			return errEmptyValue
		}
		if len(op.Value) > e.limits.Value {
			return engine.ErrTooLarge
		}
		size += e.tableSize(op.Key, op.Value)
	}
	if size > e.limits.CommitBytes {
		return engine.ErrTooLarge
	}
	return nil
}

func checkKey(key []byte) error {
	switch {
	case len(key) == 0:
		return errors.New("engine: a key is empty")
	case len(key) > maxKey:
		return engine.ErrTooLarge
	}
	for _, prefix := range reserved {
		if bytes.HasPrefix(key, prefix) {
			return fmt.Errorf("engine: keys may not begin with %s", prefix)
		}
	}
	return nil
}

// CheckKey refuses keys that cannot be written.
func (e *Engine) CheckKey(key []byte) error { return checkKey(key) }

// tableSize is what an entry counts of what a commit may have. Behind a commit log values for the value log count
// little.
func (e *Engine) tableSize(key, value []byte) int {
	if e.front && int64(len(value)) >= e.db.Opts().ValueThreshold {
		return entrySize(key, nil) + 16
	}
	return entrySize(key, value)
}

// entrySize is the most that an entry counts in a transaction of Badger's.
func entrySize(key, value []byte) int { return len(key) + len(value) + 16 }

// DeleteRange removes keys in transactions of a few thousand, each queued like other commits.
func (e *Engine) DeleteRange(start, end []byte) error {
	const step = 2000
	for {
		var ops []engine.Op
		err := e.Scan(start, end, engine.ScanOptions{KeysOnly: true}, func(key, _ []byte) (bool, error) {
			ops = append(ops, engine.Op{Kind: engine.Delete, Key: bytes.Clone(key)})
			return len(ops) < min(step, e.limits.CommitOps), nil
		})
		if err != nil {
			return err
		}
		if len(ops) == 0 {
			return nil
		}
		result := make(chan error, 1)
		e.Commit(ops, func(err error) { result <- err })
		if err := <-result; err != nil {
			return err
		}
		start = append(ops[len(ops)-1].Key, 0)
	}
}

// publish makes everything up to version visible to reads from here on.
func (e *Engine) publish(version uint64, emptied emptiedRanges) {
	e.current.Store(&snapshot{
		txn: e.db.NewTransactionAt(version, false), cache: e.cache, fold: e.fold, emptied: emptied, probes: e.probes,
	})
}

// writer is the goroutine that owns all writing.
type writer struct {
	*Engine
	version   uint64 // of the last commit
	batch     batch
	waiting   []request // whose writes are in the batch
	stage     stage
	tails     *tails
	emptied   emptiedRanges // as of version
	watched   *emptiedRange // is being probed; nil: none is, or something was written to it
	threshold int64         // the least bytes of a value that goes to the value log
}

// run takes requests until the queue is closed. It waits only for the first of a batch.
func (w *writer) run() {
	defer w.finished.Done()
	var taken []request
	for {
		if taken = w.queue.take(taken[:0], true); len(taken) == 0 {
			return
		}
		for len(taken) > 0 {
			w.addAll(taken)
			taken = w.queue.take(taken[:0], false)
		}
		_ = w.commit() // who waits is told
		w.stage.clear()
	}
}

// addAll adds requests to batches and forgets them. It commits full batches.
func (w *writer) addAll(taken []request) {
	for i := range taken {
		w.add(taken[i])
		taken[i] = request{}
		if len(w.waiting) >= maxBatch {
			_ = w.commit() // who waits is told
		}
	}
}

// add adds a request to the batch, or answers with its error.
func (w *writer) add(r request) {
	switch {
	case r.watch != nil:
		w.watched = r.watch
		r.done(nil)
		return
	case r.remember:
		w.rememberEmptied()
		r.done(nil)
		return
	}
	if err := w.stageRequest(&r); err != nil {
		r.done(err)
		return
	}
	if w.batch.inTables+w.stage.inTables(w.Engine) > w.limits.CommitBytes ||
		len(w.batch.entries)+len(w.stage.entries) > w.limits.CommitOps {
		// The batch is full. What is staged was computed on top of it, and holds only if it is committed.
		if err := w.commit(); err != nil {
			if err := w.stageRequest(&r); err != nil {
				r.done(err)
				return
			}
		}
		w.batch.begin(w.db, w.cache, w.fold, w.version)
	}
	w.waiting = append(w.waiting, r)
	w.batch.inTables += w.stage.inTables(w.Engine)
	w.batch.add(w.stage.entries, w.threshold)
}

// stageRequest computes what a request writes on top of the batch, and refuses what is too large.
func (w *writer) stageRequest(r *request) error {
	w.batch.begin(w.db, w.cache, w.fold, w.version)
	w.stage.begin(&w.batch, w.fold, w.tails)
	if err := w.stage.run(r); err != nil {
		return err
	}
	s := &w.stage
	if s.inTables(w.Engine) > w.limits.CommitBytes || len(s.entries) > w.limits.CommitOps || s.longest() > w.limits.Value {
		return engine.ErrTooLarge
	}
	return nil
}

// commit writes the batch, publishes it and answers everyone in it.
func (w *writer) commit() (err error) {
	if len(w.batch.entries) > 0 {
		if err = w.write(); err != nil {
			w.tails.failed()
			w.batch.txn.Discard()
		}
	} else if w.batch.txn != nil {
		w.batch.txn.Discard()
	}
	w.batch.clear()
	for i := range w.waiting {
		done := w.waiting[i].done
		w.waiting[i] = request{}
		done(err)
	}
	w.waiting = w.waiting[:0]
	return err
}

// write gives the batch to Badger.
func (w *writer) write() error {
	if err := w.refused(); err != nil {
		return err
	}
	size := int64(w.batch.size + entryOverhead*len(w.batch.entries) + commitOverhead)
	if err := w.room.take(size, len(w.batch.entries), w.batch.large); err != nil {
		w.noteRoom(err)
		return err
	}
	w.version++
	if err := w.batch.commit(w.version); err != nil {
		return w.fail(fmt.Errorf("%w: %w", engine.ErrUnknown, err))
	}
	if w.logs != nil {
		if err := w.makeSafe(); err != nil {
			return w.fail(fmt.Errorf("%w: %w", engine.ErrUnknown, err))
		}
	}
	w.divideEmptied(w.batch.entries)
	w.publish(w.version, w.emptied)
	if oldest, ok := w.readers.advance(w.version); ok {
		w.db.SetDiscardTs(oldest)
	}
	return nil
}

// makeSafe syncs what has to be synced before a commit is acknowledged.
func (w *writer) makeSafe() error {
	w.commits.committed(w.version)
	switch {
	case w.sync == Batch:
		if err := w.syncNames(); err != nil {
			return err
		}
		w.commits.synced(w.version)
	case w.batch.large:
		// The system may write what points into the value log to disk before the value, so there is no waiting. If it
		// cannot be synced now, this commit is the last until it can.
		if err := w.syncLogs(w.version); err != nil && !passes(err) {
			return err
		}
	}
	return nil
}
